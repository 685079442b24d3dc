internal import Glibc

/// Makes a system call that returns −1 on failure, and repeats it if a signal interrupts it.
///
/// `errno` is read before any other code can change it.
@inline(__always)
package func systemCall(_ name: StaticString, _ call: () -> CInt) throws(SystemError) -> CInt {
    while true {
        let result = call()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw SystemError(call: name.description, code: code) }
    }
}

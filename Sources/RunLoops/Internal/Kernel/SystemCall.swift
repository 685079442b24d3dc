internal import Glibc

/// Makes a system call that answers −1 for failure, again if a signal interrupts it.
///
/// `errno` is read before anything else can change it.
@inline(__always)
package func systemCall(_ name: StaticString, _ call: () -> CInt) throws(SystemError) -> CInt {
    while true {
        let result = call()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw SystemError(call: name.description, code: code) }
    }
}

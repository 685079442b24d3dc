internal import Glibc

/// A file descriptor with one owner, which is closed when its owner goes.
///
/// What another process has sent arrives so: a message that nobody looks at leaves nothing open.
///
/// > Thread safety: a value that has one owner, who may hand it to any thread.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls.
    ///
    /// The descriptor stays this value's: do not close it.
    public let descriptor: CInt

    /// Takes over a descriptor, which nobody else closes from now on.
    ///
    /// - Parameter descriptor: An open descriptor.
    public init(_ descriptor: CInt) {
        if descriptor < 0 {
            misuse(
                "OwnedDescriptor.init: \(descriptor) is no descriptor; look at what the system call answered first"
            )
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Gives the descriptor up: whoever takes it closes it.
    ///
    /// - Returns: Its number.
    public consuming func release() -> CInt {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Opens a second descriptor of the same file, close-on-exec.
    ///
    /// - Returns: The second one, with an owner of its own.
    /// - Throws: ``SystemError`` if the process may open no more. This one is as it was.
    public borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        let number = descriptor
        return OwnedDescriptor(try systemCall("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) })
    }
}

internal import Glibc
public import RunLoops

/// A file descriptor with one owner, which is closed when its owner goes.
///
/// Descriptors of other processes arrive so: a message that is not looked at leaves nothing open. Such a descriptor, and one
/// that was duplicated from it, is closed soon after its owner has gone, on a thread of its own: its sender may have arranged
/// that closing it takes time. One that you made yourself is closed at once.
///
/// > Thread safety: a value that has one owner, who may hand it to any thread.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls.
    ///
    /// The descriptor stays this value's: do not close it.
    public private(set) var descriptor: CInt

    /// The quota of the peer that has sent it; nil for one that was made here.
    private(set) var sender: DescriptorQuota?

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
        sender = nil
    }

    /// Takes over a descriptor that a peer has sent and that is on no quota.
    init(_ descriptor: CInt, from sender: DescriptorQuota?) {
        self.descriptor = descriptor
        self.sender = sender
    }

    deinit {
        if descriptor < 0 { return }
        if let sender {
            DescriptorCloser.close([descriptor], for: sender, wereCounted: false)
        } else {
            close(descriptor)
        }
    }

    /// Gives the descriptor up: whoever takes it closes it.
    ///
    /// - Returns: Its number. To close it may take long if another process has sent it: do that on no loop.
    public consuming func release() -> CInt {
        let released = descriptor
        descriptor = -1
        return released
    }

    /// Opens a second descriptor of the same file, close-on-exec.
    ///
    /// - Returns: The second one, with an owner of its own.
    /// - Throws: ``/RunLoops/SystemError`` if the process may open no more. This one is as it was.
    public borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        let number = descriptor
        return OwnedDescriptor(
            try systemCall("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) }, from: sender)
    }
}

internal import Glibc
public import RunLoops

/// A file descriptor with one owner, which closes it when it is destroyed.
///
/// Descriptors that another process sends arrive in this form, so a message that your handler does not look at leaves nothing
/// open. A descriptor that was sent, and one that was duplicated from it, is closed soon after its owner is destroyed, on a
/// thread for that purpose: its sender may have arranged that closing it takes time. A descriptor that you opened yourself is
/// closed at once.
///
/// > Thread safety: a value that has one owner, which may pass it to any thread.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls.
    ///
    /// The descriptor stays this value's: do not close it.
    public private(set) var descriptor: CInt

    /// The quota of the peer that has sent the descriptor, or nil if it was opened here.
    private(set) var sender: DescriptorQuota?

    /// Takes over a descriptor.
    ///
    /// No other code may close it from now on.
    ///
    /// - Parameter descriptor: An open descriptor.
    public init(_ descriptor: CInt) {
        if descriptor < 0 {
            misuse(
                "OwnedDescriptor.init: \(descriptor) is not a descriptor; check the result of the system call first"
            )
        }
        self.descriptor = descriptor
        sender = nil
    }

    /// Takes over a descriptor that a peer has sent and that no quota counts.
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

    /// Releases the descriptor to the caller, which closes it.
    ///
    /// - Returns: Its number. Closing it may take long if another process has sent it, so do not do that on a loop.
    public consuming func release() -> CInt {
        let released = descriptor
        descriptor = -1
        return released
    }

    /// Opens a second descriptor of the same file, close-on-exec.
    ///
    /// - Returns: The second descriptor, with an owner of its own.
    /// - Throws: ``/RunLoops/SystemError`` if the process may open no more. This one is unchanged.
    public borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        let number = descriptor
        return OwnedDescriptor(
            try systemCall("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) }, from: sender)
    }
}

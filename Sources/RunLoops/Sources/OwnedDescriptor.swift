internal import Glibc

/// A file descriptor with one owner.
///
/// The descriptor is closed at once when its owner is destroyed. Make an owned descriptor from a descriptor that you have opened,
/// or with ``memory(name:size:)``, ``pipe()`` or ``eventDescriptor(count:)``.
///
/// Descriptors that another process has sent through a port have this type, too. The sender can delay a call of `close` for such a
/// descriptor, or for a duplicate of it, as long as it likes. So these descriptors and their duplicates are closed on a separate
/// thread, soon after the owner is destroyed.
///
/// > Thread safety: a value with one owner, which may pass the value to any thread.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls.
    ///
    /// The value still owns the descriptor: do not close it.
    public private(set) var descriptor: CInt

    /// The object that closes the descriptor; nil if `deinit` closes the descriptor itself.
    package let closer: (any DescriptorClosing)?

    /// Takes over a descriptor.
    ///
    /// No other code may close the descriptor from now on.
    ///
    /// - Parameter descriptor: An open descriptor.
    public init(_ descriptor: CInt) {
        if descriptor < 0 {
            misuse(
                "OwnedDescriptor.init: \(descriptor) is not a descriptor; check the result of the system call first"
            )
        }
        self.descriptor = descriptor
        closer = nil
    }

    /// Takes over a descriptor that an object closes in its own way.
    ///
    /// - Parameters:
    ///   - descriptor: An open descriptor.
    ///   - closer: The object; nil if `deinit` closes the descriptor itself.
    package init(_ descriptor: CInt, closer: (any DescriptorClosing)?) {
        self.descriptor = descriptor
        self.closer = closer
    }

    deinit {
        if descriptor < 0 { return }
        if let closer { closer.close(descriptor) } else { close(descriptor) }
    }

    /// Transfers the descriptor to the caller, which must close it.
    ///
    /// - Returns: The number of the descriptor. Closing a descriptor that another process has sent can take long, so do not close
    ///   it on a loop.
    public consuming func release() -> CInt { exchange(&descriptor, with: -1) }

    /// Opens a second descriptor of the same file, close-on-exec.
    ///
    /// - Returns: The second descriptor, with its own owner.
    /// - Throws: ``SystemError`` if the process cannot open more descriptors. This descriptor is unchanged then.
    public borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        let number = descriptor
        return OwnedDescriptor(
            try systemCall("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) }, closer: closer)
    }

    /// Makes system calls on the file non-blocking, or blocking again.
    ///
    /// A non-blocking call fails with `EAGAIN` if it cannot proceed at once. A descriptor that a loop watches should be
    /// non-blocking. The setting belongs to the open file: it applies to duplicates, too, and to other processes that have the same
    /// open file.
    ///
    /// - Parameter isNonBlocking: True for non-blocking calls.
    /// - Throws: ``SystemError`` if the kernel refuses. The setting is unchanged then.
    public borrowing func setNonBlocking(_ isNonBlocking: Bool = true) throws(SystemError) {
        let number = descriptor
        let flags = try systemCall("fcntl") { fcntl(number, F_GETFL) }
        let changed = isNonBlocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK
        if changed != flags { _ = try systemCall("fcntl") { fcntl(number, F_SETFL, changed) } }
    }
}

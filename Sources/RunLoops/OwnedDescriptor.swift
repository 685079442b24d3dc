internal import Glibc

/// A file descriptor with one owner, which closes it when it is destroyed.
///
/// Make one of a descriptor that you have opened, or open one here: ``memory(name:size:)``, ``pipe()``,
/// ``eventDescriptor(count:)``. It is closed at once when its owner is destroyed.
///
/// Descriptors that another process has sent through a port arrive in this form, too. Such a descriptor, and one that was
/// duplicated from it, is closed soon after its owner is destroyed, on a thread for that purpose: its sender may have arranged
/// that closing it takes time.
///
/// > Thread safety: a value that has one owner, which may pass it to any thread.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls.
    ///
    /// The descriptor stays this value's: do not close it.
    public private(set) var descriptor: CInt

    /// The object that closes the descriptor; nil if it is closed at once.
    package let closer: (any DescriptorClosing)?

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
        closer = nil
    }

    /// Takes over a descriptor that an object closes in its own way.
    ///
    /// - Parameters:
    ///   - descriptor: An open descriptor.
    ///   - closer: The object; nil if the descriptor is closed at once.
    package init(_ descriptor: CInt, closer: (any DescriptorClosing)?) {
        self.descriptor = descriptor
        self.closer = closer
    }

    deinit {
        if descriptor < 0 { return }
        if let closer { closer.close(descriptor) } else { close(descriptor) }
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
    /// - Throws: ``SystemError`` if the process may open no more. This one is unchanged.
    public borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        let number = descriptor
        return OwnedDescriptor(
            try systemCall("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) }, closer: closer)
    }

    /// Sets whether system calls on the file return at once instead of blocking the thread.
    ///
    /// A call that would block then fails with `EAGAIN`. A descriptor that a loop watches should not block. The setting
    /// belongs to the open file: it also holds for duplicates, and in other processes that have the same open file.
    ///
    /// - Parameter isNonBlocking: True if calls shall not block.
    /// - Throws: ``SystemError`` if the kernel refuses. The setting is unchanged.
    public borrowing func setNonBlocking(_ isNonBlocking: Bool = true) throws(SystemError) {
        let number = descriptor
        let flags = try systemCall("fcntl") { fcntl(number, F_GETFL) }
        let changed = isNonBlocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK
        if changed != flags { _ = try systemCall("fcntl") { fcntl(number, F_SETFL, changed) } }
    }
}

internal import Glibc

/// A list of file descriptors with one owner, such as the descriptors of one message, or the sockets of a service.
///
/// An array cannot hold an ``OwnedDescriptor``, because it cannot be copied. When the list is destroyed, the descriptors that are
/// still in it are closed. A descriptor that another process has sent is closed soon after that, on a separate thread, and counts
/// against the `untakenDescriptorLimit` of its message port until it is taken out or closed.
///
/// > Thread safety: a value that has one owner, which may pass it to any thread.
public struct OwnedDescriptors: ~Copyable, Sendable {
    /// The numbers of the descriptors, for system calls, in order.
    ///
    /// This value still owns the descriptors: do not close them.
    public private(set) var numbers: [CInt]

    /// The object that counts and closes the descriptors; nil if `deinit` closes them itself.
    private var closer: (any DescriptorClosing)?

    /// Makes a list without descriptors.
    public init() {
        numbers = []
        closer = nil
    }

    /// Takes over descriptors that the kernel has opened.
    ///
    /// - Parameters:
    ///   - numbers: The descriptors.
    ///   - closer: The object that counts and closes the descriptors, for a peer that has sent them; nil if no peer has.
    package init(adopting numbers: [CInt], closer: (any DescriptorClosing)? = nil) {
        self.numbers = numbers
        self.closer = numbers.isEmpty ? nil : closer
        self.closer?.receive(numbers.count)
    }

    deinit {
        if numbers.isEmpty { return }
        if let closer { closer.close(counted: numbers) } else { for number in numbers { close(number) } }
    }

    /// The number of descriptors.
    public var count: Int { numbers.count }

    /// True if the list has no descriptor.
    public var isEmpty: Bool { numbers.isEmpty }

    /// Adds a descriptor at the end.
    ///
    /// - Parameter descriptor: The descriptor, which the list then owns.
    public mutating func append(_ descriptor: consuming OwnedDescriptor) {
        // If a peer has sent one of the descriptors, all of them are counted for that peer, and closed as a peer's descriptors are.
        if closer == nil, let first = descriptor.closer {
            closer = first
            first.receive(numbers.count)
        }
        numbers.append(descriptor.release())
        closer?.receive(1)
    }

    /// Releases all descriptors to the caller, which closes them.
    ///
    /// - Returns: The numbers of the descriptors, in order. Closing a descriptor can take long if another process has sent it, so
    ///   do not close them on a loop.
    public consuming func release() -> [CInt] {
        let released = exchange(&numbers, with: [])
        closer?.take(released.count)
        return released
    }

    /// Removes and returns the first descriptor.
    ///
    /// - Returns: The descriptor, which the caller then owns, or nil if the list is empty.
    /// - Complexity: O(*n*), *n* descriptors.
    public mutating func takeFirst() -> OwnedDescriptor? {
        if numbers.isEmpty { return nil }
        closer?.take(1)
        return OwnedDescriptor(numbers.removeFirst(), closer: closer)
    }
}

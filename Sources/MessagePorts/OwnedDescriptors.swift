internal import Glibc

/// File descriptors with one owner, in order: those that one message carries.
///
/// Those that are still in it when it goes are closed. Those that another process has sent are closed soon after that, on a
/// thread of its own, and until they are taken out or closed they count as ``MessagePort/Limits/untakenDescriptors``.
///
/// > Thread safety: a value that has one owner, who may hand it to any thread.
public struct OwnedDescriptors: ~Copyable, Sendable {
    /// Their numbers, for system calls, in order.
    ///
    /// The descriptors stay this value's: do not close them.
    public private(set) var numbers: [CInt]

    /// The quota on which they are; nil for those that were made here.
    private var sender: DescriptorQuota?

    /// Makes a list without descriptors.
    public init() {
        numbers = []
        sender = nil
    }

    /// Takes over what the kernel has opened.
    ///
    /// - Parameters:
    ///   - numbers: The descriptors.
    ///   - sender: The quota of the peer that has sent them.
    init(adopting numbers: [CInt], from sender: DescriptorQuota? = nil) {
        self.numbers = numbers
        self.sender = numbers.isEmpty ? nil : sender
        self.sender?.receive(numbers.count)
    }

    deinit {
        if numbers.isEmpty { return }
        if let sender {
            DescriptorCloser.close(numbers, for: sender, wereCounted: true)
        } else {
            for number in numbers { close(number) }
        }
    }

    /// The number of descriptors.
    public var count: Int { numbers.count }

    /// True if there is no descriptor.
    public var isEmpty: Bool { numbers.isEmpty }

    /// Adds a descriptor at the end.
    ///
    /// - Parameter descriptor: The descriptor, which is the list's then.
    public mutating func append(_ descriptor: consuming OwnedDescriptor) {
        // If one was sent by a peer, all are closed as if they were.
        if sender == nil, let first = descriptor.sender {
            sender = first
            first.receive(numbers.count)
        }
        numbers.append(descriptor.release())
        sender?.receive(1)
    }

    /// Gives all of them up: whoever takes them closes them.
    ///
    /// - Returns: Their numbers, in order. To close them may take long if another process has sent them: do that on no loop.
    public consuming func release() -> [CInt] {
        let released = numbers
        numbers = []
        sender?.take(released.count)
        return released
    }

    /// Takes the first descriptor out.
    ///
    /// - Returns: The descriptor, which is the caller's then, or nil if there is none.
    /// - Complexity: O(*n*), *n* descriptors.
    public mutating func takeFirst() -> OwnedDescriptor? {
        if numbers.isEmpty { return nil }
        sender?.take(1)
        return OwnedDescriptor(numbers.removeFirst(), from: sender)
    }
}

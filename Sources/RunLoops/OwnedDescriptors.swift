internal import Glibc

/// File descriptors with one owner, in order: those that one message carries.
///
/// Those that are still in it when it goes are closed.
///
/// > Thread safety: a value that has one owner, who may hand it to any thread.
public struct OwnedDescriptors: ~Copyable, Sendable {
    /// Their numbers, for system calls, in order.
    ///
    /// The descriptors stay this value's: do not close them.
    public private(set) var numbers: [CInt]

    /// Makes a list without descriptors.
    public init() { numbers = [] }

    /// Takes over what the kernel has opened.
    init(adopting numbers: [CInt]) { self.numbers = numbers }

    deinit { for number in numbers { close(number) } }

    /// How many there are.
    public var count: Int { numbers.count }

    /// Whether there is none.
    public var isEmpty: Bool { numbers.isEmpty }

    /// Adds a descriptor at the end.
    ///
    /// - Parameter descriptor: The descriptor, which is the list's then.
    public mutating func append(_ descriptor: consuming OwnedDescriptor) {
        numbers.append(descriptor.release())
    }

    /// Gives all of them up: whoever takes them closes them.
    ///
    /// - Returns: Their numbers, in order.
    public consuming func release() -> [CInt] {
        let released = numbers
        numbers = []
        return released
    }

    /// Takes the first descriptor out.
    ///
    /// - Returns: The descriptor, which is the caller's then, or nil if there is none.
    /// - Complexity: O(*n*), *n* descriptors.
    public mutating func takeFirst() -> OwnedDescriptor? {
        numbers.isEmpty ? nil : OwnedDescriptor(numbers.removeFirst())
    }
}

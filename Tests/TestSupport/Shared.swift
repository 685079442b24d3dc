public import Synchronization

/// A number that the threads of a test share.
public final class Shared: Sendable {
    /// The number.
    public let value: Atomic<Int>

    /// Makes the number.
    ///
    /// - Parameter value: The initial value.
    public init(_ value: Int = 0) { self.value = Atomic(value) }

    /// The value of the number.
    public var count: Int { value.load(ordering: .acquiring) }

    /// Adds one.
    ///
    /// - Returns: The value before the addition.
    @discardableResult
    public func increment() -> Int { value.add(1, ordering: .acquiringAndReleasing).oldValue }
}

/// An object that counts the living objects of its kind.
public final class Counted: Sendable {
    private let alive: Shared
    private let farewell: (@Sendable () -> Void)?

    /// Makes an object, and counts it.
    ///
    /// - Parameters:
    ///   - alive: The number of living objects.
    ///   - farewell: Called when the object is destroyed.
    public init(_ alive: Shared, farewell: (@Sendable () -> Void)? = nil) {
        self.alive = alive
        self.farewell = farewell
        alive.value.add(1, ordering: .acquiringAndReleasing)
    }

    deinit {
        farewell?()
        alive.value.subtract(1, ordering: .acquiringAndReleasing)
    }
}

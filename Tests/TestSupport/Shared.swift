public import Synchronization

/// A number that the threads of a test share.
public final class Shared: Sendable {
    /// The number.
    public let value: Atomic<Int>

    /// Makes the number.
    ///
    /// - Parameter value: The first value.
    public init(_ value: Int = 0) { self.value = Atomic(value) }

    /// The number, for an expectation.
    public var count: Int { value.load(ordering: .acquiring) }

    /// Adds one.
    ///
    /// - Returns: The number before.
    @discardableResult
    public func increment() -> Int { value.add(1, ordering: .acquiringAndReleasing).oldValue }
}

/// An object that says how many of its kind are alive.
public final class Counted: Sendable {
    private let alive: Shared
    private let farewell: (@Sendable () -> Void)?

    /// Makes one, and counts it.
    ///
    /// - Parameters:
    ///   - alive: The count.
    ///   - farewell: A closure that runs while it is destroyed.
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

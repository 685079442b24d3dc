internal import Dispatch

/// A gate at which a thread of a test waits until another thread opens it, once and for all.
///
/// The deadline of a wait serves only to detect a test that hangs.
public final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Makes a closed gate.
    public init() {}

    /// Opens the gate to all threads that wait, and to all that wait later.
    public func open() { semaphore.signal() }

    /// Waits until the gate is open.
    ///
    /// - Parameter seconds: The time after which the test counts as hung.
    /// - Returns: False if the time has passed.
    public func wait(seconds: Int = 300) -> Bool {
        guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        semaphore.signal()
        return true
    }
}

internal import Dispatch

/// A gate that a thread of a test waits at until another thread opens it, once and for all.
///
/// The deadline of a wait only catches a test that hangs.
public final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Makes a closed gate.
    public init() {}

    /// Lets through all threads that wait, and all that come later.
    public func open() { semaphore.signal() }

    /// Waits until the gate is open.
    ///
    /// - Parameter seconds: After how long the test is taken to hang.
    /// - Returns: False if it hangs.
    public func wait(seconds: Int = 300) -> Bool {
        guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        semaphore.signal()
        return true
    }
}

import Dispatch

/// A gate that lets one thread pass each time it is opened.
final class Turnstile: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits until the gate is opened.
    ///
    /// - Returns: False if the time has passed.
    func pass(seconds: Int = 3_600) -> Bool {
        semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
    }
}

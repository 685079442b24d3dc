import Dispatch

/// A gate that lets one thread through each time it is opened.
final class Turnstile: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits until it is opened.
    ///
    /// - Returns: False after so many seconds.
    func pass(seconds: Int = 3_600) -> Bool {
        semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
    }
}

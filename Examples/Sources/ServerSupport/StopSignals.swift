import Glibc
import RunLoops

/// Stops a server in an orderly way when the process gets `SIGTERM` or `SIGINT`.
///
/// The first signal calls the handler, which stops accepting and lets connections finish. If the process still runs when the
/// time for that is over, or when another signal comes, it exits with 1.
///
/// > Thread safety: one thread, that of the loop that serves the signals.
public final class StopSignals {
    private var sources: [SignalSource] = []
    private var deadline: Timer?
    private let time: Duration
    private let onStop: () -> Void

    /// Takes the signals, and adds them to the loop of this thread.
    ///
    /// - Parameters:
    ///   - time: The time that the server has to stop.
    ///   - onStop: Called once, for the first signal.
    /// - Throws: An error if other code has the signals, or the kernel refuses.
    public init(time: Duration, onStop: @escaping () -> Void) throws {
        self.time = time
        self.onStop = onStop
        for signal in [SIGTERM, SIGINT] {
            let source = try SignalSource(signal) { [unowned self] _, _ in stop() }
            try RunLoop.current.add(source, forMode: .common)
            sources.append(source)
        }
    }

    /// Stops the server, as the first signal does.
    public func stop() {
        if deadline != nil {
            log("stopped at once by a second signal")
            exit(1)
        }
        deadline = Timer.scheduledTimer(withTimeInterval: time, repeats: false) { _ in
            log("stopped with open connections: the time is over")
            exit(1)
        }
        onStop()
    }
}

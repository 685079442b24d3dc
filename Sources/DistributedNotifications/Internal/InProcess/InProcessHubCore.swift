internal import RunLoops

/// A hub inside this process, with the connections of the process's centers to the hub.
///
/// > Thread safety: any thread.
final class InProcessHubCore: Sendable {
    private struct State: Sendable {
        var hub: Hub
        var lastConnection: UInt64 = 0
        /// For each connection, the closure that wakes the connection's engine.
        ///
        /// The closure is called with true when there is output, and with false when the hub has ended.
        var wakes: [UInt64: @Sendable (Bool) -> Void] = [:]
    }

    private let state: Guarded<State>
    private let limits: Hub.Limits

    init(_ limits: Hub.Limits) {
        self.limits = limits
        state = Guarded(State(hub: Hub(InProcessHubCore.newEpoch(), limits)))
    }

    private static func newEpoch() -> Epoch {
        let random = PosterID.random()
        return Epoch(high: random.high, low: random.low)
    }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - poster: The poster.
    ///   - wake: Called on any thread: with true when there is output, with false when the hub has ended.
    /// - Returns: The number of the connection, and the epoch of the hub.
    func open(_ poster: PosterID, wake: @escaping @Sendable (Bool) -> Void) -> (UInt64, Epoch) {
        state.withLock { state in
            state.lastConnection += 1
            state.wakes[state.lastConnection] = wake
            _ = state.hub.open(state.lastConnection, poster: poster)
            return (state.lastConnection, state.hub.epoch)
        }
    }

    /// Applies a change to the hub, and then wakes each connection that may have messages waiting.
    func tell(_ body: (inout Hub) throws(WireViolation) -> Void) {
        let woken = state.withLock { state in
            do throws(WireViolation) { try body(&state.hub) } catch {
                preconditionFailure("a center keeps to the protocol: \(error.reason)")
            }
            state.hub.acknowledgePatient()
            while state.hub.hasLeftovers { state.hub.tidy() }
            var woken: [@Sendable (Bool) -> Void] = []
            while let ready = state.hub.takeReady() {
                if let wake = state.wakes[ready] { woken.append(wake) }
            }
            return woken
        }
        for wake in woken { wake(true) }
    }

    /// Removes and returns the next message for a connection; nil if there is none that may be sent now.
    func next(for connection: UInt64) -> Hub.Output? { state.withLock { $0.hub.next(for: connection) } }

    /// Closes a connection, and also ends its poster if `last` is not nil.
    ///
    /// `last` is the number of the poster's last post.
    func close(_ connection: UInt64, poster: PosterID, last: UInt64?) {
        tell { hub in
            hub.close(connection)
            if let last { hub.end(poster, last: last) }
        }
        state.withLock { state in _ = state.wakes.removeValue(forKey: connection) }
    }

    func crash() {
        let woken = state.withLock { state in
            state.hub = Hub(InProcessHubCore.newEpoch(), limits)
            return Array(exchange(&state.wakes, with: [:]).values)
        }
        for wake in woken { wake(false) }
    }
}

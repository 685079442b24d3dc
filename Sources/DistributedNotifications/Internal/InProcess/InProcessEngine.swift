internal import RunLoops

/// The engine of a center that reaches other centers through a hub inside this process.
///
/// > Thread safety: the thread of the center's loop.
final class InProcessEngine: Engine {
    private let hub: InProcessHubCore
    private let loop: RunLoop
    private weak var sink: (any EngineSink)?
    private var poster = PosterID(high: 0, low: 0)
    /// The number of the connection to the hub; nil while there is none.
    private var connection: UInt64?
    private let confined = LoopConfined<InProcessEngine>()

    init(_ hub: InProcessHubCore, _ loop: RunLoop) {
        self.hub = hub
        self.loop = loop
    }

    func start(_ start: EngineStart, _ sink: any EngineSink) {
        poster = start.poster
        self.sink = sink
        confined.value = self
        connect()
    }

    private func connect() {
        let (opened, epoch) = hub.open(poster) { [loop, confined] hasOutput in
            loop.performInEveryMode {
                guard let engine = confined.value else { return }
                if hasOutput { engine.take() } else { engine.connectAgain() }
            }
        }
        connection = opened
        sink?.state(.connected, epoch: epoch, sharesClock: true)
    }

    private func connectAgain() {
        connection = nil
        sink?.state(.away(since: .now, .engine("the hub has ended")), epoch: nil)
        connect()
    }

    private func take() {
        while let connection, let output = hub.next(for: connection) {
            switch output {
            case .acknowledged(let accepted, let settled):
                sink?.acknowledged(accepted: accepted, settled: settled, exempt: settled)
            case .batch(let batch): sink?.deliver(batch)
            }
        }
    }

    private func tell(_ body: (inout Hub, UInt64) throws(WireViolation) -> Void) {
        guard let connection else { return }
        hub.tell { hub throws(WireViolation) in
            // The hub of this connection was replaced, and the block that tells the engine so has not run yet.
            if hub.connections[connection] == nil { return }
            try body(&hub, connection)
        }
    }

    func publish(_ post: Post) -> Handed {
        if connection == nil { return .away }
        tell { hub, id throws(WireViolation) in try hub.publish(post, from: id) }
        return .taken
    }

    func announce(_ announcement: Announcement) {
        tell { hub, id throws(WireViolation) in try hub.announce(announcement, from: id) }
    }

    func subscribe(_ subscriptions: [Subscription]) {
        tell { hub, id throws(WireViolation) in
            for subscription in subscriptions { try hub.subscribe(subscription, from: id) }
        }
    }

    func unsubscribe(_ numbers: [UInt64]) {
        tell { hub, id throws(WireViolation) in for number in numbers { hub.unsubscribe(number, from: id) } }
    }

    func locate(_ posters: [PosterID]) {
        tell { hub, id throws(WireViolation) in for poster in posters { hub.locate(poster, from: id) } }
    }

    func confirm(_ batch: UInt64, credits: Int) {
        tell { hub, id throws(WireViolation) in try hub.confirm(batch, credits: credits, from: id) }
    }

    func end(lastNumber: UInt64) {
        confined.value = nil
        if let connection { hub.close(connection, poster: poster, last: lastNumber) }
        connection = nil
    }
}

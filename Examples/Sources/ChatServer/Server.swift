import RunLoops
import ServerSupport
import Streams

/// Accepts members on the loop of the main thread, and passes them to the workers in turn.
///
/// > Thread safety: the main thread only.
final class Server {
    /// The settings of the program.
    struct Settings {
        var host: String
        var port: UInt16
        var workers: Int
        /// The number of events in a worker's queue at which members that write have to wait.
        var queueLimit: Int
        /// The maximum number of members.
        var members: Int
        var connection: Connection.Options
        var logsEnds: Bool
    }

    private let listener: Listener
    private let queues: [EventQueue]
    private let threads: [RunLoopThread]
    private let reports = Port<Worker.Report>()
    private var nextNumber = 1
    /// The number of workers that have not yet sent the report for which the server waits.
    private var awaited = 0
    private var onEnd: (() -> Void)?

    init(_ settings: Settings) throws {
        var options = Listener.Options()
        options.connectionLimit = settings.members
        listener =
            switch try ServiceManager.takeSocket() {
            case .some(let socket): try Listener(socket, options: options)
            case nil: try Listener(.tcp(host: settings.host, port: settings.port), options: options)
            }

        let queues = (0..<settings.workers).map { _ in EventQueue(limit: settings.queueLimit) }
        self.queues = queues
        threads = try queues.indices.map { try RunLoopThread(name: "worker \($0)") }
        let reports = self.reports.makeSendRight()
        for (thread, queue) in zip(threads, queues) {
            thread.runLoop.perform {
                _ = Worker(
                    queue, among: queues, reports: reports, options: settings.connection,
                    logsEnds: settings.logsEnds)
            }
        }

        listener.onPause { _, error in log("no members are accepted for a moment: \(error)") }
        RunLoop.current.add(self.reports, forMode: .default) { [unowned self] in handle($0) }
        try RunLoop.current.add(listener, forMode: .default) { [unowned self] accepted in admit(accepted) }
    }

    /// The address that members connect to.
    var address: SocketAddress { listener.localAddress }

    private func admit(_ accepted: consuming AcceptedSocket) {
        let number = nextNumber
        nextNumber += 1
        queues[number % queues.count].send(.join(accepted.boxed(), number: number))
    }

    /// Accepts no more members, delivers all lines that were read, and then closes all connections.
    ///
    /// - Parameter onEnd: Called after all connections are closed and the workers have ended.
    func stop(onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        listener.invalidate()
        // First, the workers stop sending lines. Then all lines are in the queues before the next event, so each member receives
        // all lines before its connection is closed.
        awaited = queues.count
        for queue in queues { queue.send(.stopReading) }
    }

    private func handle(_ report: Worker.Report) {
        awaited -= 1
        if awaited > 0 { return }
        switch report {
        case .stoppedReading:
            awaited = queues.count
            for queue in queues { queue.send(.closeMembers) }
        case .isEmpty:
            for thread in threads { thread.stop() }
            for thread in threads { thread.join() }
            onEnd?()
        }
    }
}

internal import DequeModule
internal import RunLoops

/// The thread of the process that reads replies for tasks, and notices the end of ports for those who want to be told.
///
/// Made when it is first needed; who only sends, or blocks until the reply is there, does without. It runs no code of the
/// user's.
final class ConnectionService: Sendable {
    /// What is watched; its tokens are the numbers of connections.
    let set: EpollSet
    private let thread: RunLoopThread
    private let connections = Guarded(Connections())

    private struct Connections: Sendable {
        var known: [UInt64: WeakConnection] = [:]
        var last: UInt64 = 0
    }

    private static let made = Guarded<ConnectionService?>(nil)

    /// The process's one.
    ///
    /// - Returns: The service.
    /// - Throws: `SystemError` if it cannot be made: asked for again, it is tried again.
    static func shared() throws(SystemError) -> ConnectionService {
        if let service = made.withLock({ $0 }) { return service }
        // Not under the lock, because it makes a thread; of two that do so one is let go of.
        let service = try ConnectionService()
        let chosen = made.withLock { made in
            if let made { return made }
            made = service
            return service
        }
        if chosen !== service { service.thread.stop() }
        return chosen
    }

    private init() throws(SystemError) {
        set = try EpollSet()
        thread = try RunLoopThread(servingProcess: "ports")
        let set = set
        thread.runLoop.performInEveryMode { [weak self] in
            var reports: Deque<EpollSet.Report> = []
            let watch = DescriptorSource(
                set.descriptor, interest: .read, origin: SourceLocation("MessagePorts", 0)
            ) {
                _, _ in
                set.report(to: &reports)
                while let report = reports.popFirst() { self?.connection(report.token)?.serviceIsTold() }
                return true
            }
            do { try RunLoop.current.add(watch, forMode: .common) } catch {
                fatalError("the thread that reads replies cannot watch anything: \(error)")
            }
        }
    }

    private func connection(_ token: UInt64) -> RemoteConnection? {
        connections.withLock { $0.known[token] }?.connection
    }

    /// Watches a connection for nothing but its end, which is told once.
    ///
    /// - Returns: The token by which the connection is known.
    func add(_ connection: RemoteConnection) throws(SystemError) -> UInt64 {
        let token = connections.withLock { connections in
            connections.last += 1
            connections.known[connections.last] = WeakConnection(connection)
            return connections.last
        }
        do throws(SystemError) { try set.add(connection.socket.descriptor, .once, token: token) } catch {
            forget(token)
            throw error
        }
        return token
    }

    /// Lets go of a connection, before its descriptor is closed.
    func remove(_ token: UInt64, _ descriptor: CInt) {
        set.remove(descriptor)
        forget(token)
    }

    private func forget(_ token: UInt64) { connections.withLock { _ = $0.known.removeValue(forKey: token) } }

    private final class WeakConnection: Sendable {
        /// `nonisolated(unsafe)`: set in `init` only, and reading a weak reference is atomic.
        nonisolated(unsafe) private weak var held: RemoteConnection?
        var connection: RemoteConnection? { unsafe held }
        init(_ connection: RemoteConnection) { unsafe held = connection }
    }
}

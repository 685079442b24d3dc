internal import DequeModule
internal import RunLoops

/// The thread that reads replies on behalf of the tasks of this process, and notices when watched connections end.
///
/// The thread is started when it is first needed. A process that only sends, or blocks until replies arrive, does not start it. The
/// thread runs no code of the user. When a connection ends, the thread schedules the handlers of that end on their own loops.
final class ConnectionService: Sendable {
    /// The epoll set that watches the connections' sockets.
    ///
    /// The token of each socket is the connection's key in ``connections``.
    let set: EpollSet
    private let thread: RunLoopThread
    private let connections = Guarded(Connections())

    private struct Connections: Sendable {
        var byToken: [UInt64: WeakReference] = [:]
        var lastToken: UInt64 = 0
    }

    private static let service = Guarded<ConnectionService?>(nil)

    /// Returns the process's service, and starts it if it does not run.
    ///
    /// - Throws: `SystemError` if the service cannot be started. The next call tries again.
    static func shared() throws(SystemError) -> ConnectionService {
        if let service = service.withLock({ $0 }) { return service }
        // The service is made without the lock, because making it starts a thread. If two threads make a service at the same time,
        // one of the two services is stopped.
        let new = try ConnectionService()
        let chosen = service.withLock { service in
            if let service { return service }
            service = new
            return new
        }
        if chosen !== new { new.thread.stop() }
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
                while let report = reports.popFirst() { self?.connection(report.token)?.serviceWasNotified() }
                return true
            }
            do { try RunLoop.current.add(watch, forMode: .common) } catch {
                fatalError("the thread that reads replies cannot watch anything: \(error)")
            }
        }
    }

    private func connection(_ token: UInt64) -> RemoteConnection? {
        connections.withLock { $0.byToken[token] }?.object(as: RemoteConnection.self)
    }

    /// Begins to watch a connection.
    ///
    /// At first, the kernel reports only the end of the connection, and reports it once.
    ///
    /// - Returns: The connection's token.
    func add(_ connection: RemoteConnection) throws(SystemError) -> UInt64 {
        let token = connections.withLock { connections in
            connections.lastToken += 1
            connections.byToken[connections.lastToken] = WeakReference(connection)
            return connections.lastToken
        }
        do throws(SystemError) { try set.add(connection.socket.descriptor, .once, token: token) } catch {
            removeToken(token)
            throw error
        }
        return token
    }

    /// Stops watching a connection, before its descriptor is closed.
    func remove(_ token: UInt64, _ descriptor: CInt) {
        set.remove(descriptor)
        removeToken(token)
    }

    private func removeToken(_ token: UInt64) {
        connections.withLock { _ = $0.byToken.removeValue(forKey: token) }
    }
}

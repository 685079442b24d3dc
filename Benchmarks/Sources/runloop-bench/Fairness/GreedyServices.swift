internal import CYardsticks
internal import DistributedNotifications
internal import Foundation
internal import Inspection
internal import MessagePorts
internal import RunLoops

#if Redis
    internal import RedisNotifications
#endif

// Services with a loop of their own, whose peers are greedy: the timer of that loop is measured.

extension RunLoops.RunLoop {
    /// Returns the newest loop with a name, which a service has just made.
    fileprivate static func newest(named name: String) throws(Miscount) -> RunLoops.RunLoop {
        guard let loop = RunLoops.RunLoop.all.last(where: { $0.name == name }) else {
            throw Miscount(expected: 1, found: 0)
        }
        return loop
    }
}

/// The messages that a service has handled since its peers began.
private struct HandledMessages {
    let loop: RunLoops.RunLoop
    private let before: Int

    init(_ loop: RunLoops.RunLoop) {
        self.loop = loop
        before = Int(loop.statistics.messages)
    }

    var count: Int { Int(loop.statistics.messages) - before }
}

/// Connections of another process to a hub, each of which always has a message of 16 posts.
final class GreedyPosters: GreedyPeers {
    let process: GreedyProcess
    private let directory: URL
    private let hub: DistributedNotificationHub
    private let handled: HandledMessages
    var watched: RunLoops.RunLoop? { handled.loop }
    var count: Int { handled.count }

    init(_ peers: Int) throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "runloop-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        hub = try DistributedNotificationHub(
            named: PortName("greedy"), in: PortNames(directory: directory.path))
        handled = HandledMessages(try RunLoops.RunLoop.newest(named: "hub"))
        process = try GreedyProcess(["--hub", directory.path, "--peers", "\(peers)"])
    }

    func leave() throws {
        hub.invalidate()
        hub.waitUntilInvalid()
        try FileManager.default.removeItem(at: directory)
    }

    /// Sends messages to the hub of a directory until a descriptor is readable.
    static func send(from peers: Int, to directory: String, _ stop: CInt) throws {
        let names = PortNames(directory: directory)
        var ports: [(port: RemotePort, last: UInt64)] = []
        for number in 0..<peers {
            let port = try RemotePort(named: PortName("greedy"), in: names)
            // The version of the protocol and the identity of a poster, and then an announcement of no posts.
            try port.send(bytes(of: UInt32(1)) + bytes(of: UInt64(number + 1)) + bytes(of: UInt64(1)), id: 1)
            try port.send([1, 1] + bytes(of: UInt64(0)), id: 2)
            ports.append((port, 0))
        }
        var end = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
        while poll(&end, 1, 0) == 0 {
            for index in ports.indices {
                while try ports[index].port.trySend(posts(after: ports[index].last), id: 3) {
                    ports[index].last += 16
                }
            }
        }
    }

    /// A message with 16 posts: number, previous number, date, flag, name, no sender, and no payload.
    private static func posts(after last: UInt64) -> [UInt8] {
        var message: [UInt8] = []
        for number in (last + 1)...(last + 16) {
            message += bytes(of: number)
            message += bytes(of: number - 1)
            message += bytes(of: UInt64(0))
            message += [0, 1, UInt8(ascii: "g"), 0]
            message += bytes(of: UInt32(0))
        }
        return message
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

/// Inspectors of another process, each of which asks for one report after another.
final class GreedyInspectors: GreedyPeers {
    /// The maximum number of connections of a process to an inspector.
    static let most = 4

    let process: GreedyProcess
    private let inspector: Inspector
    private let handled: HandledMessages
    var watched: RunLoops.RunLoop? { handled.loop }
    var count: Int { handled.count }

    init(_ peers: Int) throws {
        inspector = try Inspector()
        handled = HandledMessages(try RunLoops.RunLoop.newest(named: "inspector"))
        process = try GreedyProcess(["--inspected", "\(getpid())", "--peers", "\(peers)"])
    }

    func leave() throws { inspector.stop() }

    static func ask(from peers: Int, _ inspected: Int32, _ stop: CInt) throws {
        for _ in 0..<peers {
            let remote = try RemoteInspector(processID: inspected)
            Thread.detachNewThread {
                // The inspector ends first, which ends the thread.
                do { while true { _ = try remote.report() } } catch {}
            }
        }
        var end = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
        while poll(&end, 1, -1) != 1 {}
    }
}

#if Redis
    /// Centers of another process that post through a Redis server, which a center of this process observes.
    final class GreedyRedisPosters: GreedyPeers {
        /// Each center has a thread and two connections to the server.
        static let most = 32

        let process: GreedyProcess
        private let received = Counter()
        private let server: RedisServer
        private let center: DistributedNotificationCenter
        private let thread: RunLoopThread
        private let observation: DistributedObservation
        let watched: RunLoops.RunLoop?
        var count: Int { received.value }

        init(_ peers: Int) throws {
            guard let program = RedisPosts.program else { throw Miscount(expected: 1, found: 0) }
            server = try RedisServer(program)
            center = try DistributedNotificationCenter(.redis(.unix(path: server.path)))
            watched = try RunLoops.RunLoop.newest(named: "notifications")
            thread = try RunLoopThread(name: "observer")
            observation = center.addObserver(
                forName: "greedy", on: thread.runLoop, capacity: .bounded(1_024, .dropOldest)
            ) { [received] _ in received.increment() }
            if !observation.waitUntilConfirmed(before: .now + .seconds(60)) {
                throw Miscount(expected: 1, found: 0)
            }
            process = try GreedyProcess(["--redis", server.path, "--peers", "\(peers)"])
        }

        func leave() throws {
            observation.remove()
            center.invalidate()
            thread.stop()
            thread.join()
            try server.stop()
        }

        static func post(from peers: Int, to path: String, _ stop: CInt) throws {
            let centers = try (0..<peers).map { _ in
                try DistributedNotificationCenter(.redis(.unix(path: path)))
            }
            let payload = [UInt8](repeating: 0, count: 64)
            var end = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
            while poll(&end, 1, 0) == 0 {
                for center in centers {
                    for _ in 0..<64 { try center.post("greedy", payload: payload, whenFull: .dropOldest) }
                }
            }
        }
    }
#endif

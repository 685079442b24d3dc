internal import ArgumentParser
internal import CLoad
internal import CThreadControl
internal import CWeb
internal import CYardsticks
internal import Glibc
internal import HTTPClients
internal import MessagePorts
internal import RunLoops
internal import Streams
internal import Synchronization
internal import TLSStreams

/// The kinds of input that peers in other processes can keep busy.
enum GreedyInput: String, CaseIterable {
    case lines = "lines of connections"
    case records = "TLS records"
    case packets = "messages between processes"
    case chunks = "chunks of HTTP answers"
    case posts = "messages to a hub"
    case questions = "questions to an inspector"
    #if Redis
        case entries = "entries of a Redis stream"
    #endif

    /// The maximum number of peers.
    var most: Int {
        switch self {
        case .lines, .records, .packets, .chunks, .posts: 1_000
        case .questions: GreedyInspectors.most
        #if Redis
            case .entries: GreedyRedisPosters.most
        #endif
        }
    }

    /// Adds the input to a loop, and starts the process of its peers.
    ///
    /// - Parameters:
    ///   - peers: The number of peers.
    ///   - loop: The loop, on another thread.
    ///   - files: The certificate for TLS.
    /// - Returns: The peers, which are sending.
    /// - Throws: The error of the system.
    func start(_ peers: Int, on loop: RunLoop, _ files: SecureFiles) throws -> any GreedyPeers {
        switch self {
        case .lines: try GreedyConnections(peers, on: loop, nil)
        case .records: try GreedyConnections(peers, on: loop, files)
        case .packets: try GreedyRequesters(peers, on: loop)
        case .chunks: try GreedyAnswers(peers, on: loop)
        case .posts: try GreedyPosters(peers)
        case .questions: try GreedyInspectors(peers)
        #if Redis
            case .entries: try GreedyRedisPosters(peers)
        #endif
        }
    }
}

/// Peers in a process of their own that are never out of bytes or messages.
protocol GreedyPeers: AnyObject {
    var process: GreedyProcess { get }
    /// The loop whose timer is measured; nil for the loop to which the input was added.
    var watched: RunLoop? { get }
    /// The number of lines, messages or pieces that the loop has handled.
    var count: Int { get }
    /// Removes the input from the loop, and discards what was received and not handled.
    func leave() throws
}

extension GreedyPeers {
    var watched: RunLoop? { nil }

    /// Waits until the loop has handled something from these peers.
    func waitUntilBusy() throws(Miscount) {
        let end = bench_now() + 30_000_000_000
        while count == 0, bench_now() < end { bench_sleep(200_000) }
        if count == 0 { throw Miscount(expected: 1, found: 0) }
    }

    /// Removes the input from the loop, with everything that was received, and ends the process.
    func stop() throws {
        try leave()
        process.end()
    }
}

/// A count that a loop's thread increases, and other threads read.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .relaxed) }
    func increment() { number.add(1, ordering: .relaxed) }
}

/// The process of greedy peers, which ends when this process closes its pipe.
final class GreedyProcess {
    private let child: ChildProcess
    private let pipeEnd: CInt

    /// Starts the process with the sub-command `greedy` and these arguments.
    init(_ arguments: [String]) throws {
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) != 0 { throw ChildProcess.Failure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        pipeEnd = ends[1]
        do { child = try ChildProcess(["greedy"] + arguments, end: ends[0]) } catch {
            close(ends[1])
            throw error
        }
    }

    var number: ThreadNumber { child.number }

    func end() {
        close(pipeEnd)
        child.wait()
    }
}

/// Connections that send line feeds, in plain text or in one TLS record each.
private final class GreedyConnections: GreedyPeers {
    let process: GreedyProcess
    private let received = Counter()
    var count: Int { received.value }
    private let loop: RunLoop
    private let held: Held

    /// Safe because only the loop's thread uses the properties.
    private final class Held: @unchecked Sendable {
        let listener: Listener
        var connections: [Connection] = []

        init() throws { listener = try Listener(.tcp(host: "127.0.0.1", port: 0)) }
    }

    init(_ peers: Int, on loop: RunLoop, _ files: SecureFiles?) throws {
        self.loop = loop
        let context = try files.map { files in
            try TLSServerContext(
                TLSIdentity(certificateFile: files.certificate, keyFile: files.key))
        }
        let received = received
        held = try loop.performAndWait {
            let held = try Held()
            try RunLoop.current.add(held.listener, forMode: .default) { [unowned held] accepted in
                let connection =
                    if let context { Connection(accepted, tls: context) } else { Connection(accepted) }
                connection.onFrame(.lines()) { _, _ in received.increment() }
                held.connections.append(connection)
                do { try RunLoop.current.add(connection, forMode: .default) } catch { fatalError("\(error)") }
            }
            return held
        }
        let port = try loop.performAndWait { [held] in held.listener.localAddress.port ?? 0 }
        let authority = files.map { ["--authority", $0.certificate] } ?? []
        process = try GreedyProcess(["--port", "\(port)", "--peers", "\(peers)"] + authority)
    }

    func leave() throws {
        try loop.performAndWait { [held] in
            held.listener.invalidate()
            for connection in held.connections { connection.reset() }
            held.connections = []
        }
    }
}

/// Ports of another process that send messages of 64 bytes.
private final class GreedyRequesters: GreedyPeers {
    let process: GreedyProcess
    private let received = Counter()
    var count: Int { received.value }
    private let loop: RunLoop
    private let port: MessagePort

    init(_ peers: Int, on loop: RunLoop) throws {
        self.loop = loop
        var limits = MessagePort.Options()
        limits.connectionLimitPerProcess = max(peers, limits.connectionLimitPerProcess)
        limits.connectionLimit = max(peers, limits.connectionLimit)
        let name = "greedy-\(getpid())-\(peers)"
        port = try MessagePort(named: PortName(name), options: limits)
        try loop.performAndWait { [port, received] in
            try RunLoop.current.add(port, forMode: .default) { _ in received.increment() }
        }
        process = try GreedyProcess(["--name", name, "--peers", "\(peers)"])
    }

    func leave() throws { try loop.performAndWait { [port] in port.invalidate() } }
}

/// HTTP servers whose answers are chunks of one byte without an end.
private final class GreedyAnswers: GreedyPeers {
    let process: GreedyProcess
    private let received = Counter()
    var count: Int { received.value }
    private let loop: RunLoop
    /// Safe because only the loop's thread uses the client.
    private struct Held: @unchecked Sendable { let client: HTTPClient }
    private let held: Held

    init(_ peers: Int, on loop: RunLoop) throws {
        self.loop = loop
        let listener = bench_ping_listen(0)
        if listener < 0 { throw SystemError(call: "listen", code: errno) }
        defer { close(listener) }
        let url = "http://127.0.0.1:\(bench_ping_port(listener))/"
        // A copy, which the other process inherits under the same number.
        let copy = dup(listener)
        if copy < 0 { throw SystemError(call: "dup", code: errno) }
        defer { close(copy) }
        process = try GreedyProcess(["--listener", "\(copy)"])
        let received = received
        held = try loop.performAndWait {
            var options = HTTPClient.Options()
            options.connectionLimitPerHost = peers
            options.connectionLimit = nil
            let client = try HTTPClient(options: options)
            for _ in 0..<peers {
                client.start(HTTPClient.Request(url)) { transfer in
                    transfer.onData { _, _ in received.increment() }
                }
            }
            return Held(client: client)
        }
    }

    func leave() throws { try loop.performAndWait { [held] in held.client.invalidate() } }
}

/// The process of greedy peers, which a measurement starts.
struct GreedyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "greedy", shouldDisplay: false)

    @Option(help: "The number of peers.")
    var peers = 1
    @Option(help: "The port of the loopback interface to which line feeds are sent.")
    var port: UInt16?
    @Option(help: "The certificate to trust; the line feeds are then sent in TLS records.")
    var authority: String?
    @Option(help: "The name of the port to which messages are sent.")
    var name: String?
    @Option(help: "The listening socket on which HTTP requests are answered.")
    var listener: CInt?
    @Option(help: "The directory of the hub to which posts are sent.")
    var hub: String?
    @Option(help: "The process whose inspector is asked.")
    var inspected: Int32?
    @Option(help: "The socket of the Redis server to which posts are sent.")
    var redis: String?

    func run() throws {
        _ = DescriptorLimit.raise()
        let stop = ChildProcess.descriptor
        let isGood: Bool
        if let hub {
            try GreedyPosters.send(from: peers, to: hub, stop)
            isGood = true
        } else if let inspected {
            try GreedyInspectors.ask(from: peers, inspected, stop)
            isGood = true
        } else if let redis {
            #if Redis
                try GreedyRedisPosters.post(from: peers, to: redis, stop)
            #endif
            isGood = !redis.isEmpty
        } else if let listener {
            isGood = bench_greedy_answers(listener, stop)
        } else if let name {
            try send(to: PortName(name), stop)
            isGood = true
        } else if let port, let authority {
            guard let settings = bench_tls_create(authority) else { throw ExitCode.failure }
            isGood = bench_greedy_records(settings, port, Int32(peers), stop)
        } else if let port {
            isGood = bench_greedy_connections(port, Int32(peers), stop)
        } else {
            throw ExitCode.failure
        }
        if !isGood { throw ExitCode.failure }
    }

    private func send(to name: PortName, _ stop: CInt) throws {
        let ports = try (0..<peers).map { _ in try RemotePort(named: name) }
        let message = [UInt8](repeating: 0, count: 64)
        var end = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
        while poll(&end, 1, 0) == 0 {
            for port in ports { while try port.trySend(message) {} }
        }
    }
}

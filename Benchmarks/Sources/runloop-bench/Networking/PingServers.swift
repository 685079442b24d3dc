internal import ArgumentParser
internal import CLoad
internal import CYardsticks
internal import Glibc
internal import RunLoops
internal import Streams

/// A server on its own thread that answers PING over TCP.
protocol PingServer: AnyObject {
    /// The number of the server's thread, for pinning.
    var number: ThreadNumber { get }
    /// The port of the loopback interface on which the server listens.
    var port: UInt16 { get }
    /// Closes all sockets, and ends the thread.
    func stop() throws
}

/// The servers that are compared.
enum PingPeer: String, CaseIterable, ExpressibleByArgument {
    case epoll, bufferevent, streams, source, parked, nio

    /// The name in tables.
    var title: String {
        switch self {
        case .epoll: "bare epoll, in C"
        case .bufferevent: "libevent's bufferevent, in C"
        case .streams: "Connection"
        case .source: "DescriptorSource"
        case .parked: "DescriptorSource, parked"
        case .nio: "SwiftNIO"
        }
    }

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .epoll: .yardstick
        case .streams, .source, .parked: .ours
        case .bufferevent, .nio: .peer
        }
    }

    /// Starts the server.
    ///
    /// - Parameter port: The port to listen on, or 0 for any free port.
    /// - Returns: The server.
    /// - Throws: The error of the system.
    func start(port: UInt16 = 0) throws -> any PingServer {
        switch self {
        case .epoll: try CPingServer(port, bench_ping_serve_epoll)
        case .bufferevent: try CPingServer(port, bench_ping_serve_bufferevent)
        case .streams: try StreamsPingServer(port)
        case .source: try SourcePingServer(port)
        case .parked: try SourcePingServer(port, waitPolicy: .park)
        case .nio: try NIOPingServer(port)
        }
    }
}

/// Opens a listening socket on the loopback interface, for servers that do not open one themselves.
private func listen(at port: UInt16) throws -> CInt {
    let listener = bench_ping_listen(port)
    if listener < 0 { throw SystemError(call: "listen", code: errno) }
    return listener
}

/// A server in C on bare epoll, which is the lower bound, or on libevent's bufferevents.
final class CPingServer: PingServer {
    private let thread = WorkerThread()
    private let listener: CInt
    private let stopEvent = bench_event_open(false)
    let port: UInt16

    init(_ port: UInt16, _ serve: @escaping @Sendable (_ listener: CInt, _ stop: CInt) -> Void) throws {
        listener = try listen(at: port)
        self.port = bench_ping_port(listener)
        thread.run { [listener, stopEvent] in serve(listener, stopEvent) }
    }

    var number: ThreadNumber { thread.number }

    func stop() {
        bench_event_write(stopEvent)
        thread.wait()
        thread.end()
        close(stopEvent)
        close(listener)
    }
}

/// A server on `Connection` and `Listener`, which answers lines with `write`.
final class StreamsPingServer: PingServer {
    private let thread: RunLoopThread
    let number: ThreadNumber
    let port: UInt16

    init(_ port: UInt16) throws {
        thread = try RunLoopThread(name: "ping, streams")
        number = try thread.prepare()
        self.port = try thread.runLoop.performAndWait {
            let listener = try Listener(.tcp(host: "127.0.0.1", port: port))
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                Self.serve(Connection(accepted))
            }
            return listener.localAddress.port ?? 0
        }
    }

    /// Adds a connection to the loop of the calling thread.
    static func serve(_ connection: Connection) {
        connection.onFrame(.lines(upTo: 64)) { connection, line in answer(line, on: connection) }
        do { try RunLoop.current.add(connection, forMode: .default) } catch { fatalError("\(error)") }
    }

    private static func answer(_ line: RawSpan, on connection: Connection) {
        if line.byteCount == 4, line.unsafeLoadUnaligned(as: UInt32.self) == ping {
            connection.write("+PONG\r\n")
        } else if line.isEmpty || !isIgnored(line.unsafeLoad(as: UInt8.self)) {
            connection.close()
        }
    }

    private static let ping = UInt32(bigEndian: 0x5049_4e47)

    private static func isIgnored(_ first: UInt8) -> Bool {
        first == UInt8(ascii: "*") || first == UInt8(ascii: "$")
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// A server on `DescriptorSource`, which closes a connection whose client does not read its answers.
final class SourcePingServer: PingServer {
    private let thread: RunLoopThread
    private let listener: CInt
    let number: ThreadNumber
    let port: UInt16

    init(_ port: UInt16, waitPolicy: RunLoop.WaitPolicy = .adaptive) throws {
        listener = try listen(at: port)
        self.port = bench_ping_port(listener)
        thread = try RunLoopThread(name: "ping, source")
        number = try thread.prepare { [listener] in
            RunLoop.current.waitPolicy = waitPolicy
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: bench_ping_buffer_size, alignment: 16)
            // The buffer lives as long as the source, which the loop holds until the thread ends.
            let owner = BufferOwner(buffer)
            let source = DescriptorSource(OwnedDescriptor(listener), interest: .read) { source, _ in
                while true {
                    let socket = bench_ping_accept(source.descriptor)
                    if socket < 0 { return }
                    do { try Self.serve(socket, owner) } catch { fatalError("\(error)") }
                }
            }
            try RunLoop.current.add(source, forMode: .default)
        }
    }

    /// The memory into which all connections receive.
    private final class BufferOwner {
        let buffer: UnsafeMutableRawBufferPointer

        init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

        deinit { buffer.deallocate() }
    }

    private static func serve(_ socket: CInt, _ owner: BufferOwner) throws {
        var position: Int32 = 0
        let source = DescriptorSource(OwnedDescriptor(socket), interest: .read) { source, _ in
            let buffer = owner.buffer
            let count = recv(source.descriptor, buffer.baseAddress, buffer.count, 0)
            if count <= 0 {
                if count == 0 || errno != EAGAIN { source.invalidate() }
                return
            }
            let requests = bench_ping_requests(&position, buffer.baseAddress, Int64(count))
            if requests == 0 { return }
            let length = Int(requests) * bench_ping_answer_length
            if requests < 0
                || send(source.descriptor, bench_ping_answers(), length, CInt(MSG_NOSIGNAL)) < length
            {
                source.invalidate()
            }
        }
        try RunLoop.current.add(source, forMode: .default)
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// Serves PING until the program is ended, for load generators of other projects.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a protocol, for load generators of other projects.",
        discussion:
            "For example, with the server on port 6400: redis-benchmark -t ping -p 6400 -c 50 -n 200000. "
            + "It warns that it cannot fetch a configuration, which this server does not have.")

    enum Service: String, ExpressibleByArgument, CaseIterable { case ping }

    @Argument(help: "The protocol.")
    var service: Service

    @Option(help: "The server.")
    var peer = PingPeer.streams

    @Option(help: "The port to listen at, on the loopback interface; 0 for any free one.")
    var port: UInt16 = 6400

    func run() throws {
        let server = try peer.start(port: port)
        print("\(peer.title): 127.0.0.1:\(server.port)")
        fflush(nil)
        withExtendedLifetime(server) { while true { pause() } }
    }
}

import Glibc
import RunLoops
import TestSupport
import Testing

/// The fifth program: a worker thread that a port keeps alive, and a network connection in one of the worker's modes.
@Suite struct NetworkProgramTests {
    private let network = RunLoop.Mode("network")

    @Test func `a worker whose loop holds a port runs the work that is performed on it`() throws {
        let keepAlive = Port<Void>()
        let ready = Gate()
        let loops = Log<RunLoop>()
        let worker = try BareThread {
            RunLoop.current.add(keepAlive, forMode: .default) {}
            loops.add(RunLoop.current)
            ready.open()
            #expect(RunLoop.current.run(in: .default, until: .hang) == .finished)
        }
        #expect(ready.wait())
        let loop = loops.entries[0]
        let count = Shared()
        for _ in 0..<100 {
            #expect(try loop.performAndWait { loop.isCurrent })
            loop.perform { count.increment() }
        }
        #expect(try loop.performAndWait { count.count } == 100)
        // Only the port kept the run alive.
        keepAlive.invalidate()
        worker.join()
    }

    @Test func `without a port and without work a worker's run returns at once`() throws {
        try BareThread {
            RunLoop.current.run()
            #expect(RunLoop.current.run(in: .default, until: .hang) == .finished)
            #expect(RunLoop.current.statistics.wakeUps == 0)
        }.join()
    }

    @Test func `a connection that was scheduled before the loop runs is served, in its mode only`() throws {
        let server = try EchoServer()
        defer { server.stop() }
        let sent = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })
        try onLoopThread { [network] loop in
            var events = 0
            var received: [UInt8] = []
            var modes: Set<RunLoop.Mode?> = []
            var partialWrites = 0
            let socket = try Loopback.connect(to: server.port)
            _ = try Connection(socket, isConnected: false, in: loop, mode: network) { connection, event in
                events += 1
                modes.insert(loop.currentMode)
                switch event {
                case .connected: connection.send(sent)
                case .received(let bytes):
                    received.append(contentsOf: bytes)
                    if received.count == sent.count { connection.endSending() }
                case .ended:
                    partialWrites = connection.partialWrites
                    connection.close()
                case .failed(let code): Issue.record("the client's connection failed: \(code)")
                }
            }
            // The connection is open by now, or soon. But it is not in the default mode, which a timer keeps busy.
            var ticks = 0
            let timer = Timer(timeInterval: .milliseconds(5), repeats: true) { timer in
                ticks += 1
                if ticks == 5 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(ticks == 5)
            #expect(events == 0)

            // In the middle of the transfer, a run in the default mode does not serve the connection.
            loop.run(mode: network, before: .hang)
            let before = events
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(events == before)

            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(received == sent)
            #expect(modes == [network])
            #expect(partialWrites > 0)
        }
    }

    @Test func `many connections in one mode each get their own bytes back`() throws {
        let server = try EchoServer()
        defer { server.stop() }
        try onLoopThread { [network] loop in
            var received = [[UInt8]](repeating: [], count: 20)
            var ended = 0
            for number in 0..<20 {
                let socket = try Loopback.connect(to: server.port)
                let bytes = [UInt8](repeating: UInt8(number), count: 10_000 + number)
                let connection = try Connection(socket, isConnected: false, in: loop, mode: network) {
                    connection, event in
                    switch event {
                    case .connected: break
                    case .received(let bytes):
                        received[number].append(contentsOf: bytes)
                        if received[number].count == 10_000 + number { connection.endSending() }
                    case .ended:
                        ended += 1
                        connection.close()
                    case .failed(let code): Issue.record("the client's connection failed: \(code)")
                    }
                }
                connection.send(bytes)
            }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(ended == 20)
            for number in 0..<20 {
                #expect(received[number] == [UInt8](repeating: UInt8(number), count: 10_000 + number))
            }
        }
    }

    @Test func `nobody listens: the connection fails, and the run is finished`() throws {
        let (socket, port) = try Loopback.listen()
        // A child that another test has just started can have a copy of the socket.
        shutdown(socket, CInt(SHUT_RDWR))
        Loopback.close(socket)
        try onLoopThread { [network] loop in
            var events: [Connection.Event] = []
            let connecting = try Loopback.connect(to: port)
            _ = try Connection(connecting, isConnected: false, in: loop, mode: network) { events.append($1) }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(events == [.failed(ECONNREFUSED)])
        }
    }
}

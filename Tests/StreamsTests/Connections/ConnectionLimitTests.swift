import Glibc
import RunLoops
import RunLoopsTesting
import Streams
import TestExpectations
import TestSupport
import Testing

/// A peer that exceeds a limit, or is too slow, loses its connection with a reason, and memory use stays bounded.
@Suite struct ConnectionLimitTests {
    // Guarantees: A frame beyond its limit, a peer that does not read, and a handler that consumes nothing end the connection at a
    // limit.
    @Test func `a frame beyond its limit ends the connection`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection, limit: 5)
            try loop.add(pair.connection, forMode: .default)
            try pair.send("fives\nsixsix\nnever\n")
            loop.run()
            #expect(calls.list == ["fives", "end: \(Connection.EndReason.limit(.frame(5)))"])
        }
    }

    // Guarantees: A frame beyond its limit, a peer that does not read, and a handler that consumes nothing end the connection at a
    // limit.
    @Test func `bytes that a handler never consumes end the connection at the limit`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.inputLimit = 1000
            let pair = try Pair(options)
            var most = 0
            var end: Connection.EndReason?
            pair.connection.onReceive { _, bytes in
                most = max(most, bytes.byteCount)
                return 0
            }
            pair.connection.onEnd { _, reason in end = reason }
            try loop.add(pair.connection, forMode: .default)
            while end == nil {
                _ = try? Loopback.write([UInt8](repeating: 1, count: 300), to: pair.peer)
                loop.settle()
            }
            #expect(end == .limit(.input(1000)))
            #expect(most <= 1200)
        }
    }

    // Guarantees: A frame beyond its limit, a peer that does not read, and a handler that consumes nothing end the connection at a
    // limit.
    @Test func `a peer that does not read is cut off at the limit, and a writer is told before`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.highWaterMark = 100_000
            options.outputLimit = 400_000
            let pair = try Pair(options)
            let calls = Calls()
            calls.watch(pair.connection)
            try loop.add(pair.connection, forMode: .default)
            let piece = [UInt8](repeating: 7, count: 10_000)
            var wasTold = false
            while pair.connection.isOpen {
                let goesOn = pair.connection.write(piece)
                #expect(
                    goesOn == (pair.connection.unsentByteCount <= 100_000 && pair.connection.isOpen)
                        || wasTold)
                if !goesOn { wasTold = true }
                #expect(pair.connection.unsentByteCount <= 410_000)
                loop.settle()
            }
            loop.settle()
            #expect(wasTold)
            #expect(calls.list == ["end: \(Connection.EndReason.limit(.output(400_000)))"])
            #expect(pair.connection.unsentByteCount == 0)
        }
    }

    @Test func `bytes that the kernel has not been offered do not count against the peer`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.outputLimit = 100_000
            let pair = try Pair(options)
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onFrame(.lines()) { connection, _ in
                connection.write([UInt8](repeating: 1, count: 150_000))
                connection.write([UInt8](repeating: 1, count: 10))
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("go\n")
            loop.settle()
            #expect(!calls.list.contains { $0.hasPrefix("end") })
            #expect(pair.connection.isOpen)
            #expect(pair.connection.sentByteCount + pair.connection.unsentByteCount == 150_010)
        }
    }

    @Test func `a writer that waits is told when the unsent bytes have fallen to half the mark`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.highWaterMark = 50_000
            let pair = try Pair(options)
            var unsentWhenDrained: [Int] = []
            pair.connection.onDrained { unsentWhenDrained.append($0.unsentByteCount) }
            try loop.add(pair.connection, forMode: .default)
            while pair.connection.write([UInt8](repeating: 7, count: 8000)) { loop.settle() }
            #expect(pair.connection.unsentByteCount > 50_000)
            while unsentWhenDrained.isEmpty {
                _ = try pair.read()
                loop.settle()
            }
            #expect(unsentWhenDrained.count == 1)
            #expect(unsentWhenDrained[0] <= 25_000)
            #expect(pair.connection.write("more"))
        }
    }

    @Test(arguments: 0..<4) func `an idle connection ends after an hour, which takes no time in a simulation`(
        seed: UInt64
    ) throws {
        try RunLoopSimulation.run(seed: seed) { simulation in
            var options = Connection.Options()
            options.idleTimeout = .seconds(3600)
            let pair = try Pair(options)
            let calls = Calls()
            calls.watch(pair.connection)
            try RunLoop.current.add(pair.connection, forMode: .default)
            simulation.advance(by: .seconds(3599))
            try pair.send("a\n")
            simulation.settle()
            simulation.advance(by: .seconds(3599))
            pair.connection.write("b")
            simulation.settle()
            simulation.advance(by: .seconds(3599))
            #expect(calls.list == ["a"])
            simulation.advance(by: .seconds(1))
            #expect(calls.list == ["a", "end: \(Connection.EndReason.timedOut(.idle))"])
        }
    }

    @Test func `a peer that does not read for the write time-out ends the connection`() throws {
        try RunLoopSimulation.run(seed: 1) { simulation in
            var options = Connection.Options()
            options.writeTimeout = .seconds(20)
            options.outputLimit = 100 << 20
            let pair = try Pair(options)
            let calls = Calls()
            calls.watch(pair.connection)
            try RunLoop.current.add(pair.connection, forMode: .default)
            pair.connection.write([UInt8](repeating: 1, count: 10 << 20))
            simulation.settle()
            simulation.advance(by: .seconds(19))
            _ = try pair.read()
            simulation.settle()
            simulation.advance(by: .seconds(19))
            #expect(calls.list == [], "the peer has read meanwhile")
            simulation.advance(by: .seconds(1))
            #expect(calls.list == ["end: \(Connection.EndReason.timedOut(.write))"])
        }
    }

    @Test func `a peer that does not close is waited for as long as was said`() throws {
        try RunLoopSimulation.run(seed: 1) { simulation in
            var options = Connection.Options()
            options.lingerTimeout = .seconds(3)
            let pair = try Pair(options)
            let calls = Calls()
            calls.watch(pair.connection)
            try RunLoop.current.add(pair.connection, forMode: .default)
            pair.connection.write("all")
            pair.connection.closeAfterWriting()
            simulation.advance(by: .milliseconds(2900))
            #expect(calls.list == [])
            simulation.advance(by: .milliseconds(100))
            #expect(calls.list == ["end: \(Connection.EndReason.closed)"])
            #expect(try pair.read() == "all")
        }
    }

    @Test func `a time-out that is set later holds from the last activity`() throws {
        try RunLoopSimulation.run(seed: 1) { simulation in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            try RunLoop.current.add(pair.connection, forMode: .default)
            simulation.advance(by: .seconds(50))
            pair.connection.options.idleTimeout = .seconds(60)
            simulation.advance(by: .seconds(9))
            #expect(calls.list == [])
            simulation.advance(by: .seconds(1))
            #expect(calls.list.count == 1)
        }
    }

    @Test func `a reset tells itself apart from an end`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let calls = Calls()
            try loop.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted)
                calls.watch(connection)
                recorded { try loop.add(connection, forMode: .default) }
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            loop.settle()
            var reset = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
            close(client)
            loop.settle()
            #expect(calls.list == ["end: \(Connection.EndReason.reset)"])
            listener.invalidate()
        }
    }

    @Test func `a connection that is reset gives its peer an error`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let calls = Calls()
            try loop.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted)
                calls.watch(connection)
                recorded { try loop.add(connection, forMode: .default) }
                connection.reset()
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            loop.settle()
            #expect(calls.list == ["end: \(Connection.EndReason.closed)"])
            #expect(throws: SystemError(call: "recv", code: ECONNRESET)) { _ = try Loopback.read(client) }
            listener.invalidate()
        }
    }
}

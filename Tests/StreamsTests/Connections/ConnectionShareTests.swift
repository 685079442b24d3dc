import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Streams

/// What one connection can cost a pass of the loop, whatever its peer sends.
@Suite struct ConnectionShareTests {
    /// The steps that the budget of a pass allows, and some for the steps that were spent for before.
    private static let mostSteps = 160

    // Guarantees: However many frames a peer sends, a pass delivers a limited number of them, and other connections are served in
    // turn.
    @Test func `a peer that sends only line feeds keeps no other connection waiting, and loses nothing`()
        throws
    {
        try onLoopThread { loop in
            let greedy = try Pair()
            let honest = try Pair()
            var frames = 0
            var reason: Connection.EndReason?
            greedy.connection.onFrame(.lines()) { _, _ in frames += 1 }
            greedy.connection.onEnd { reason = $1 }
            var framesBefore: [Int] = []
            honest.connection.onFrame(.lines()) { _, _ in framesBefore.append(frames) }
            try loop.add(greedy.connection, forMode: .default)
            try loop.add(honest.connection, forMode: .default)
            let sent = try Loopback.write([UInt8](repeating: 0x0a, count: 60_000), to: greedy.peer)
            greedy.endSending()
            for _ in 0..<10 {
                try honest.send("x\n")
                let before = frames
                loop.pass()
                #expect(frames - before <= ConnectionShareTests.mostSteps)
            }
            #expect(framesBefore.count >= 9, "the honest one is served in each pass or the next one")
            loop.run(until: "the greedy one has ended") { reason != nil }
            #expect(reason == .peerClosed)
            #expect(frames == sent)
            honest.connection.close()
            loop.run()
        }
    }

    // Guarantees: However many frames a peer sends, a pass delivers a limited number of them, and other connections are served in
    // turn.
    @Test func `many greedy connections cost a pass no more than one, and take turns`() throws {
        try onLoopThread { loop in
            let pairs = try (0..<100).map { _ in try Pair() }
            var calls = 0
            for pair in pairs {
                pair.connection.onFrame(.lines()) { _, _ in calls += 1 }
                try loop.add(pair.connection, forMode: .default)
                _ = try Loopback.write([UInt8](repeating: 0x0a, count: 20_000), to: pair.peer)
            }
            func passAndCount() -> Int {
                let before = calls
                loop.pass()
                return calls - before
            }
            for _ in 0..<20 { #expect(passAndCount() <= ConnectionShareTests.mostSteps) }
            let honest = try Pair()
            var isServed = false
            honest.connection.onFrame(.lines()) { _, _ in isServed = true }
            try loop.add(honest.connection, forMode: .default)
            try honest.send("x\n")
            let before = calls
            loop.run(until: "the honest one is served") { isServed }
            #expect(
                calls - before <= 100 * 2 * 32 + ConnectionShareTests.mostSteps, "two turns of each at most")
            for pair in pairs { pair.connection.close() }
            honest.connection.close()
            loop.run()
        }
    }

    @Test func `frames that wait for the budget come before new bytes, whatever handler is set`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let connection = pair.connection
            var text = ""
            connection.onFrame(.fixed(2)) { connection, frame in
                text += StreamsTests.text(frame)
                if text.utf8.count == 600 {
                    connection.onReceive { _, bytes in
                        text += StreamsTests.text(bytes)
                        return bytes.byteCount
                    }
                }
            }
            try loop.add(connection, forMode: .default)
            let all = (0..<1_000).map { String(Character(UnicodeScalar(UInt8(0x61 + $0 % 26)))) }.joined()
            try pair.send(String(all.prefix(500)))
            loop.pass()
            #expect(text.utf8.count < 500)
            try pair.send(String(all.dropFirst(500)))
            loop.run(until: "all bytes have arrived") { text.utf8.count == 1_000 }
            #expect(text == all)
            connection.close()
            loop.run()
        }
    }

    @Test func `paused frames that wait for the budget stay until the connection resumes`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let connection = pair.connection
            var frames = 0
            var hasEnded = false
            connection.onFrame(.lines()) { connection, _ in
                frames += 1
                if frames == 40 { connection.isReadingPaused = true }
            }
            connection.onEnd { _, _ in hasEnded = true }
            try loop.add(connection, forMode: .default)
            try pair.send(String(repeating: "\n", count: 1_000))
            pair.endSending()
            loop.settle()
            #expect(frames == 40 && !hasEnded)
            connection.isReadingPaused = false
            loop.run(until: "the connection has ended") { hasEnded }
            #expect(frames == 1_000)
        }
    }

    @Test
    func `a handler that writes whenever it may is called once for each time that its connection is served`()
        throws
    {
        try onLoopThread { loop in
            let pair = try Pair()
            let connection = pair.connection
            connection.options.highWaterMark = 10
            var calls = 0
            connection.onDrained { connection in
                calls += 1
                // The kernel takes all of it at once.
                connection.write([UInt8](repeating: 0x61, count: 100))
            }
            try loop.add(connection, forMode: .default)
            connection.write([UInt8](repeating: 0x61, count: 100))
            for _ in 0..<10 {
                let before = calls
                loop.pass()
                #expect(calls - before <= 3)
            }
            #expect(calls >= 5)
            connection.close()
            loop.run()
        }
    }

    @Test func `connections of a mode that does not run cost a pass nothing, and are settled when it runs`()
        throws
    {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
            let pairs = try (0..<200).map { _ in try Pair() }
            var ended: [Int] = []
            for (index, pair) in pairs.enumerated() {
                pair.connection.onEnd { _, _ in ended.append(index) }
                try loop.add(pair.connection, forMode: other)
                pair.connection.write("hello")
            }
            loop.pass()
            let streams = LoopStreams.of(loop)
            #expect(streams.unsettledCount == 0)
            for pair in pairs { pair.connection.write(" again") }
            #expect(streams.unsettledCount == 0)
            #expect(try pairs[0].read() == nil)
            // A closed connection is in no mode, and its end is told in any mode.
            pairs[7].connection.close()
            loop.pass()
            #expect(ended == [7])
            // One that is added to the running mode is settled there.
            try loop.add(pairs[8].connection, forMode: .default)
            loop.pass()
            #expect(try pairs[8].read() == "hello again")
            loop.pass(in: other)
            loop.pass(in: other)
            for (index, pair) in pairs.enumerated() where index != 7 && index != 8 {
                #expect(try pair.read() == "hello again")
            }
            for pair in pairs { pair.connection.close() }
            loop.settle()
            #expect(ended == [7] + (0..<200).filter { $0 != 7 })
        }
    }

    @Test func `a connection that is removed from a mode that does not run is released`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
            let alive = Shared()
            let ends = try Loopback.pair()
            defer { close(ends.1) }
            func make() throws {
                let connection = try Connection(OwnedDescriptor(ends.0))
                let counted = Counted(alive)
                connection.onEnd { _, _ in withExtendedLifetime(counted) {} }
                try loop.add(connection, forMode: other)
                connection.write("x")
                loop.pass()
                loop.remove(connection, forMode: other)
            }
            try make()
            loop.pass()
            #expect(alive.count == 0)
        }
    }

    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(Int64.max) * 10, .seconds(-Int64.max) * 10, .zero,
    ])
    func `a time-out of any length is a time-out`(timeout: Duration) throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.idleTimeout = timeout
            options.connectTimeout = timeout
            options.writeTimeout = timeout
            options.lingerTimeout = timeout
            let pair = try Pair(options)
            var reason: Connection.EndReason?
            pair.connection.onEnd { reason = $1 }
            try loop.add(pair.connection, forMode: .default)
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let connecting = Connection(connectingTo: .address(listener.localAddress), options: options)
            connecting.onEnd { _, _ in }
            try loop.add(connecting, forMode: .default)
            pair.connection.write("x")
            loop.settle()
            #expect(reason == (timeout > .zero ? nil : .timedOut(.idle)))
            pair.connection.closeAfterWriting()
            loop.settle()
            pair.closePeer()
            connecting.close()
            loop.run(until: "the connection has ended") { reason != nil }
            listener.invalidate()
        }
    }

    /// Meanwhile the connection receives nothing, whatever its peer sends.
    @Test func `the idle time does not run while a handler of the connection runs the loop`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.idleTimeout = .milliseconds(300)
            let pair = try Pair(options)
            var (frames, reason) = (0, Connection.EndReason?.none)
            pair.connection.onFrame(.lines()) { _, _ in
                frames += 1
                if frames > 1 { return }
                let end = ContinuousClock.now + .milliseconds(800)
                while .now < end { _ = loop.run(in: .default, until: end) }
            }
            pair.connection.onEnd { reason = $1 }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("one\ntwo\n")
            loop.run(until: "both have come") { frames == 2 || reason != nil }
            #expect(frames == 2 && reason == nil)
            loop.run(until: "it is idle") { reason != nil }
            #expect(reason == .timedOut(.idle))
        }
    }
}

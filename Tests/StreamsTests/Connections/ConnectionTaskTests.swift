import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Tasks of an actor on the loop read, write and wait without handlers.
@Suite struct ConnectionTaskTests {
    /// An actor on a loop with one connection to a plain socket.
    private actor Talker {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        private var pair: Pair?

        init(_ loop: RunLoop) { self.loop = loop }

        func open(_ options: Connection.Options = .init()) throws {
            let pair = try Pair(options)
            try loop.add(pair.connection, forMode: .default)
            self.pair = pair
        }

        private func connection() throws -> Connection { try #require(pair?.connection) }

        func peerSends(_ text: String) throws { try pair?.send(text) }
        func peerEndsSending() { pair?.endSending() }
        func peerReads() throws -> String? { try pair?.read() }
        func peerCloses() { pair?.closePeer() }

        func lines(_ limit: Int = 100, most: Int = .max, _ note: (String) -> Void = { _ in }) async throws
            -> [String]
        {
            var lines: [String] = []
            for try await line in try connection().frames(.lines(upTo: limit)) {
                lines.append(String(decoding: line, as: UTF8.self))
                note(lines[lines.count - 1])
                if lines.count == most { break }
            }
            return lines
        }

        /// Has a second sequence replace a first one that waits.
        ///
        /// - Returns: The lines of the first sequence, and the line of the second.
        func replace() async throws -> (first: [String], second: String?) {
            let hasOne = Gate()
            async let first = lines { _ in hasOne.open() }
            try peerSends("one\n")
            while !hasOne.wait(seconds: 0) { await Task.yield() }
            let frames = try connection().frames(.lines())
            try peerSends("two\n")
            var second: String?
            for try await line in frames {
                second = String(decoding: line, as: UTF8.self)
                break
            }
            return (try await first, second)
        }

        /// The number of passes of the loop while a task takes a number of lines.
        func passes(_ count: Int) async throws -> Int {
            var number = 0
            var before = 0
            for try await _ in try connection().frames(.lines()) {
                number += 1
                if number == 1 { before = loop.statistics.passes }
                if number == count { break }
            }
            return loop.statistics.passes - before
        }

        /// Asks an iterator itself for two lines, instead of a `for` loop.
        func twoLines() async throws -> [[UInt8]?] {
            var iterator = try connection().frames(.lines()).makeAsyncIterator()
            return [try await iterator.next(), try await iterator.next()]
        }

        func pieces() async throws -> Int {
            var count = 0
            for try await piece in try connection().pieces() { count += piece.count }
            return count
        }

        func echo() async throws {
            let connection = try connection()
            for try await line in connection.frames(.lines()) {
                connection.write(line + [0x0a])
                try await connection.drained()
            }
            connection.write("bye\n")
            connection.closeAfterWriting()
        }

        func fill() async throws -> Int {
            let connection = try connection()
            var waits = 0
            for _ in 0..<100 where !connection.write([UInt8](repeating: 7, count: 10_000)) {
                waits += 1
                try await connection.drained()
            }
            return waits
        }

        func end() async throws -> Connection.EndReason { await (try connection()).ended() }
        func isOpen() throws -> Bool { try connection().isOpen }
        func connect(to endpoint: Endpoint) async throws -> Connection.EndReason? {
            let connection = Connection(connectingTo: endpoint)
            try loop.add(connection, forMode: .default)
            do {
                try await connection.connected()
                connection.close()
                return nil
            } catch { return error.reason }
        }
    }

    private func withTalker(_ body: (Talker) async throws -> Void) async throws {
        let thread = try RunLoopThread(name: "talker")
        let talker = Talker(thread.runLoop)
        try await talker.open()
        try await body(talker)
        thread.stop()
        await thread.join()
    }

    @Test func `a task that takes many lines lets the loop serve its other inputs in between`() async throws {
        let thread = try RunLoopThread(name: "talker")
        let talker = Talker(thread.runLoop)
        try await talker.open()
        try await talker.peerSends(String(repeating: "\n", count: 1_000))
        #expect(try await talker.passes(1_000) >= 1_000 / 32 - 1)
        thread.stop()
    }

    @Test func `an iterator's own next works on the actor of the loop`() async throws {
        let thread = try RunLoopThread(name: "talker")
        let talker = Talker(thread.runLoop)
        try await talker.open()
        async let lines = talker.twoLines()
        try await talker.peerSends("one\ntwo\n")
        #expect(try await lines == [Array("one".utf8), Array("two".utf8)])
        thread.stop()
    }

    @Test func `lines come one by one, and the sequence ends with the peer's stream`() async throws {
        try await withTalker { talker in
            async let lines = talker.lines()
            try await talker.peerSends("one\ntwo\nthr")
            try await talker.peerSends("ee\n")
            await talker.peerEndsSending()
            let all = try await lines
            #expect(all == ["one", "two", "three"])
            #expect(try await talker.isOpen(), "the task closes it")
        }
    }

    // Guarantees: Lines that arrived before the task asked for them are not lost.
    @Test func `lines that came before the task asked are not lost`() async throws {
        try await withTalker { talker in
            try await talker.peerSends("one\ntwo\nthree\n")
            await talker.peerEndsSending()
            #expect(try await talker.lines(most: 1) == ["one"])
        }
    }

    @Test func `an answer is written after the peer has ended its stream`() async throws {
        try await withTalker { talker in
            try await talker.peerSends("a\nb\n")
            await talker.peerEndsSending()
            try await talker.echo()
            var read = ""
            while !read.hasSuffix("bye\n") { read += try await talker.peerReads() ?? "" }
            #expect(read == "a\nb\nbye\n")
            await talker.peerCloses()
        }
    }

    // Guarantees: A stream that ends inside a frame is an error, and so is a frame beyond its limit.
    @Test func `a stream that ends in a frame is an error`() async throws {
        try await withTalker { talker in
            try await talker.peerSends("whole\npart")
            await talker.peerEndsSending()
            await #expect(throws: ConnectionEndedError(reason: .incompleteInput)) {
                _ = try await talker.lines()
            }
        }
    }

    // Guarantees: A stream that ends inside a frame is an error, and so is a frame beyond its limit.
    @Test func `a frame beyond its limit is an error`() async throws {
        try await withTalker { talker in
            try await talker.peerSends("short\nmuch too long\n")
            await #expect(throws: ConnectionEndedError(reason: .limit(.frame(6)))) {
                _ = try await talker.lines(6)
            }
        }
    }

    // Guarantees: A task that is cancelled while it waits ends the connection.
    @Test func `a task that is cancelled while it waits ends the connection`() async throws {
        try await withTalker { talker in
            let first = Gate()
            let task = Task { try await talker.lines { _ in first.open() } }
            try await talker.peerSends("one\n")
            await yieldUntil("the first line is read") { first.wait(seconds: 0) }
            task.cancel()
            await #expect(throws: ConnectionEndedError(reason: .cancelled)) { _ = try await task.value }
            #expect(try await !talker.isOpen())
        }
    }

    // Guarantees: A writer that waits continues when the peer has read.
    @Test func `a writer waits until the peer has read`() async throws {
        try await withTalker { talker in
            async let waits = talker.fill()
            var read = 0
            while read < 1_000_000 { read += try await talker.peerReads()?.utf8.count ?? 0 }
            let count = try await waits
            #expect(count > 0)
        }
    }

    @Test func `the end is awaited, by several tasks`() async throws {
        try await withTalker { talker in
            async let first = talker.end()
            async let second = talker.end()
            await talker.peerCloses()
            let reasons = try await [first, second]
            #expect(reasons == [.peerClosed, .peerClosed])
            #expect(try await talker.end() == .peerClosed)
        }
    }

    @Test func `a second sequence ends the first one`() async throws {
        try await withTalker { talker in
            let lines = try await talker.replace()
            #expect(lines.first == ["one"])
            #expect(lines.second == "two")
        }
    }

    @Test func `pieces are all bytes`() async throws {
        try await withTalker { talker in
            async let count = talker.pieces()
            for _ in 0..<10 { try await talker.peerSends("0123456789") }
            await talker.peerEndsSending()
            let sum = try await count
            #expect(sum == 100)
        }
    }

    @Test func `a connection is awaited, or its refusal`() async throws {
        try await withTalker { talker in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            #expect(try await talker.connect(to: .address(listener.localAddress)) == nil)
            let refusal = try await talker.connect(to: .unix(path: "/no/such/path"))
            #expect(refusal == .failed(SystemError(call: "connect", code: 2)))
        }
    }
}

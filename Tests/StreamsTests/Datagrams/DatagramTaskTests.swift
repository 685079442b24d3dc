import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Tasks of an actor on the loop await datagrams.
@Suite struct DatagramTaskTests {
    /// An actor on a loop with a socket that a task reads, and one that sends to it.
    private actor Reader {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        private let socket: DatagramSocket
        private let sender: DatagramSocket
        private var ends: [DatagramSocket.EndReason] = []
        private var sequence: DatagramSocket.Datagrams?

        init(_ loop: RunLoop, _ options: DatagramSocket.Options = .init()) throws {
            self.loop = loop
            socket = try DatagramSocket(.udp(host: "127.0.0.1", port: 0), options: options)
            sender = try DatagramSocket(connectedTo: socket.localAddress)
        }

        func start() throws {
            socket.onEnd { [self] _, reason in assumeIsolated { $0.ends.append(reason) } }
            try loop.add(socket, forMode: .default)
            try loop.add(sender, forMode: .default)
        }

        func send(_ texts: [String]) { for text in texts { sender.send(text) } }
        func close() { socket.close() }
        func isOpen() -> Bool { socket.isOpen }
        func reasons() -> [DatagramSocket.EndReason] { ends }
        func statistics() -> DatagramSocket.Statistics { socket.statistics }

        func read(_ most: Int = .max, _ hasBegun: Gate? = nil) async throws -> [String] {
            var list: [String] = []
            let datagrams = socket.datagrams()
            hasBegun?.open()
            for try await datagram in datagrams {
                #expect(datagram.sender == sender.localAddress)
                list.append(
                    String(decoding: datagram.bytes, as: UTF8.self) + (datagram.isTruncated ? " cut" : ""))
                if list.count == most { break }
            }
            return list
        }

        /// Lets two tasks iterate over the same sequence.
        func readTwice() async throws {
            sequence = socket.datagrams()
            async let other: Void = iterate()
            try await iterate()
            try await other
        }

        private func iterate() async throws {
            guard let sequence else { return }
            for try await _ in sequence {}
        }

        /// Lets a task take the second of two datagrams while the handler has the first one, and another socket receive then.
        ///
        /// - Parameter texts: Gets the bytes of the first datagram when its handler begins and when it ends.
        /// - Throws: An error if a socket cannot be opened.
        func takeInHandler(_ texts: Log<String>) throws {
            let other = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            nonisolated(unsafe) let otherSender = try DatagramSocket(connectedTo: other.localAddress)
            let (taken, received) = (Shared(), Shared())
            other.onReceive { _, _, _ in received.increment() }
            try loop.add(other, forMode: .default)
            try unsafe loop.add(otherSender, forMode: .default)
            socket.onReceive { [self] _, bytes, _ in
                texts.add(text(bytes))
                Task {
                    do { #expect(try await read(1) == ["second"]) } catch { Issue.record(error) }
                    taken.increment()
                }
                loop.run(until: "the task has the second datagram") { taken.count == 1 }
                unsafe otherSender.send("other")
                loop.run(until: "the other socket has received") { received.count == 1 }
                other.close()
                unsafe otherSender.close()
                texts.add(text(bytes))
            }
            send(["first", "second"])
        }

        /// Counts the passes in which a task takes datagrams.
        func passes(_ count: Int) async throws -> Int {
            let before = loop.statistics.passes
            _ = try await read(count)
            return loop.statistics.passes - before
        }
    }

    private func withReader(
        _ options: DatagramSocket.Options = .init(), _ body: (Reader, RunLoopThread) async throws -> Void
    ) async throws {
        let thread = try RunLoopThread(name: "reader")
        let reader = try Reader(thread.runLoop, options)
        try await reader.start()
        try await body(reader, thread)
        thread.stop()
        await thread.join()
    }

    @Test func `a task that takes the last datagram in a handler's run leaves the handler its bytes`()
        async throws
    {
        try await withReader { reader, _ in
            let texts = Log<String>()
            try await reader.takeInHandler(texts)
            await yieldUntil("the handler is over") { texts.entries.count == 2 }
            #expect(texts.entries == ["first", "first"])
        }
    }

    @Test func `datagrams come one by one, and the sequence ends when the socket is closed`() async throws {
        var options = DatagramSocket.Options()
        options.datagramByteLimit = 3
        try await withReader(options) { reader, _ in
            let hasBegun = Gate()
            async let all = reader.read(.max, hasBegun)
            await reader.send(["one", "three", ""])
            while await reader.statistics().received < 3 { await Task.yield() }
            await reader.send(["two"])
            while await reader.statistics().received < 4 { await Task.yield() }
            await reader.close()
            let texts = try await all
            #expect(texts == ["one", "thr cut", "", "two"])
            #expect(await reader.reasons() == [.closed])
            let rest = try await reader.read()
            #expect(rest == [], "a closed socket has no more datagrams")
        }
    }

    @Test func `what came before the task asked, or after it stopped, is kept`() async throws {
        try await withReader { reader, _ in
            let texts = (0..<100).map { "\($0)" }
            await reader.send(texts)
            let some = try await reader.read(33)
            #expect(some == Array(texts[..<33]))
            let others = try await reader.read(67)
            #expect(others == Array(texts[33...]))
        }
    }

    @Test func `a task that takes many datagrams lets the loop serve its other inputs in between`()
        async throws
    {
        try await withReader { reader, _ in
            await reader.send((0..<200).map { "\($0)" })
            let passes = try await reader.passes(200)
            #expect(passes >= 200 / 32)
        }
    }

    @Test func `a cancelled task ends the socket, once`() async throws {
        try await withReader { reader, _ in
            let hasBegun = Gate()
            let task = Task { try await reader.read(.max, hasBegun) }
            while !hasBegun.wait(seconds: 0) { await Task.yield() }
            task.cancel()
            await #expect(throws: DatagramSocketEndedError(reason: .cancelled)) { try await task.value }
            while await reader.reasons().isEmpty { await Task.yield() }
            #expect(await reader.reasons() == [.cancelled])
            #expect(await !reader.isOpen())
        }
    }

    @Test func `a later sequence ends the one before`() async throws {
        try await withReader { reader, _ in
            let hasBegun = Gate()
            async let first = reader.read(.max, hasBegun)
            while !hasBegun.wait(seconds: 0) { await Task.yield() }
            async let second = reader.read(1)
            let old = try await first
            #expect(old == [])
            await reader.send(["x"])
            let new = try await second
            #expect(new == ["x"])
        }
    }

    @Test func `two tasks that await datagrams of one socket end the program with advice`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "reader")
            let reader = try Reader(thread.runLoop)
            try await reader.start()
            try await reader.readTwice()
        }
        #expect(result?.message.contains("let one task iterate over them") == true)
    }
}

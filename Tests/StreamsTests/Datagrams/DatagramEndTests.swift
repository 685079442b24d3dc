import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Any thread can end a socket or remove it, and its end is reported once.
@Suite struct DatagramEndTests {
    /// A socket of a thread with a loop, which counts datagrams and the ends that it reports.
    private final class Stage: @unchecked Sendable {
        let thread: RunLoopThread
        let received = Shared()
        /// For each report of the end, the reason and whether it came on the loop's thread.
        let ends = Log<String>()
        let releases = Log<Bool>()
        let socket: DatagramSocket
        /// A socket of no loop, with which the test sends.
        let sender: CInt

        init(_ onReceive: @escaping @Sendable (DatagramSocket) -> Void = { _ in }) throws {
            var pair: [CInt] = [0, 0]
            let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
            #expect(unsafe socketpair(AF_UNIX, type, 0, &pair) == 0)
            sender = pair[1]
            let near = pair[0]
            thread = try RunLoopThread(name: "datagrams")
            let (received, ends, releases) = (received, ends, releases)
            socket = try thread.runLoop.performAndWait {
                let loop = RunLoop.current
                let made = try DatagramSocket(OwnedDescriptor(near))
                let parting = Parting { releases.add(loop.isCurrent) }
                made.onReceive { socket, _, _ in
                    parting.hold()
                    received.increment()
                    onReceive(socket)
                }
                made.onEnd { _, reason in ends.add("\(reason) \(loop.isCurrent)") }
                try loop.add(made, forMode: .default)
                return Passed(made)
            }.socket
        }

        func send(_ count: Int) {
            for _ in 0..<count { #expect(unsafe Glibc.send(sender, "x", 1, CInt(MSG_NOSIGNAL)) == 1) }
        }

        /// Makes datagrams arrive together, and calls a closure on another thread before the first of them is handled.
        ///
        /// All are sent while a block of the loop runs, so that a handler may end the socket.
        func whileDatagramsWait(_ count: Int = 3, _ body: @escaping @Sendable () -> Void = {}) throws {
            let (isBlocked, isOver) = (Gate(), Gate())
            thread.runLoop.perform {
                isBlocked.open()
                _ = isOver.wait()
            }
            defer { isOver.open() }
            try #require(isBlocked.wait())
            send(count)
            try BareThread(body).join()
        }

        func pass() throws { for _ in 0..<3 { try thread.runLoop.performAndWait {} } }

        func stop() {
            thread.stop()
            thread.join()
            close(sender)
        }
    }

    private struct Passed: @unchecked Sendable {
        let socket: DatagramSocket
        init(_ socket: DatagramSocket) { self.socket = socket }
    }

    // Guarantees: The end of a socket is reported once, after all other handlers, whichever thread ends it.
    @Test func `after an end elsewhere a socket calls nothing but the report of its end`() throws {
        let stage = try Stage()
        try stage.whileDatagramsWait {
            stage.socket.close()
            #expect(!stage.socket.isOpen)
            stage.socket.close()
            // Only the loop closes the descriptor, so the kernel still accepts a datagram.
            stage.send(1)
        }
        waitUntil("the end is reported") { stage.ends.entries.count == 1 }
        try stage.pass()
        #expect(stage.received.count == 0)
        #expect(stage.ends.entries == ["\(DatagramSocket.EndReason.closed) true"])
        #expect(stage.releases.entries == [true])
        #expect(unsafe Glibc.send(stage.sender, "x", 1, CInt(MSG_NOSIGNAL)) == -1, "it is closed")
        stage.stop()
    }

    @Test func `an end elsewhere during a handler stops the datagrams that are left`() throws {
        let stage = try Stage { socket in
            nonisolated(unsafe) let socket = socket
            do { try BareThread { unsafe socket.close() }.join() } catch { Issue.record(error) }
        }
        try stage.whileDatagramsWait(5)
        waitUntil("the end is reported") { stage.ends.entries.count == 1 }
        #expect(stage.received.count == 1)
        stage.stop()
    }

    @Test func `an end in a handler stops the datagrams that are left, and is reported after the handler`()
        throws
    {
        let stage = try Stage { socket in
            socket.close()
            RunLoop.current.run(in: .default, until: .distantPast)
        }
        try stage.whileDatagramsWait(5)
        waitUntil("the end is reported") { stage.ends.entries.count == 1 }
        try stage.pass()
        #expect(stage.received.count == 1)
        #expect(stage.ends.entries == ["\(DatagramSocket.EndReason.closed) true"])
        stage.stop()
    }

    @Test func `a removal elsewhere stops the datagrams until the socket is added again`() throws {
        let isRemoved = Shared()
        let stage = try Stage { socket in
            if isRemoved.count > 0 { return }
            isRemoved.increment()
            nonisolated(unsafe) let socket = socket
            let loop = RunLoop.current
            do { try BareThread { unsafe loop.remove(socket) }.join() } catch { Issue.record(error) }
        }
        try stage.whileDatagramsWait(5)
        waitUntil("a datagram is handled") { stage.received.count > 0 }
        try stage.pass()
        #expect(stage.received.count == 1)
        try stage.thread.runLoop.performAndWait { [stage] in
            try RunLoop.current.add(stage.socket, forMode: .default)
        }
        waitUntil("the rest is delivered") { stage.received.count == 5 }
        #expect(stage.ends.entries == [])
        stage.stop()
    }

    @Test func `the end of the loop is reported, and a socket of an ended loop does nothing`() throws {
        let stage = try Stage()
        stage.stop()
        #expect(stage.ends.entries == ["\(DatagramSocket.EndReason.loopEnded) true"])
        stage.socket.close()
        #expect(!stage.socket.isOpen)
        #expect(stage.ends.entries.count == 1)
    }

    @Test func `a socket that was never added, or is released in no mode, is closed and reports nothing`()
        throws
    {
        try onLoopThread { loop in
            let alive = Shared()
            let ended = Shared()
            func make(added: Bool, closes: Bool) throws -> UInt16 {
                let socket = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
                let counted = Counted(alive)
                socket.onReceive { _, _, _ in withExtendedLifetime(counted) {} }
                socket.onEnd { _, _ in ended.increment() }
                if added {
                    try loop.add(socket, forMode: .default)
                    loop.pass()
                    loop.remove(socket, forMode: .default)
                }
                if closes { socket.close() }
                return try #require(socket.localAddress.port)
            }
            for (added, closes) in [(false, false), (false, true), (true, false)] {
                let port = try make(added: added, closes: closes)
                loop.pass()
                #expect(alive.count == 0 && ended.count == 0)
                // The port is free again.
                try DatagramSocket(.udp(host: "127.0.0.1", port: port)).close()
            }
        }
    }

    @Test func `an end in a forked child leaves the parent's socket and its file as they are`() async {
        await #expect(processExitsWith: .success) {
            let stage = try Stage()
            try stage.pass()
            let directory = try ScratchDirectory()
            let path = "\(directory.path)/socket"
            let named = try DatagramSocket(.unix(path: path))
            let ending = Child {
                stage.socket.close()
                named.close()
                return stage.ends.entries.isEmpty && stage.releases.entries.count == 1 ? 0 : 1
            }.wait()
            #expect(ending == .exited(0))
            #expect(unsafe access(path, F_OK) == 0)
            stage.send(2)
            waitUntil("the datagrams are handled") { stage.received.count == 2 }
            #expect(stage.ends.entries == [])
            named.close()
            stage.stop()
        }
    }
}

import Glibc
import RunLoops
import RunLoopsTesting
import Streams
import TestExpectations
import TestSupport
import Testing

/// Bytes are received and sent on the loop's thread, and the end is reported once.
@Suite struct ConnectionTests {
    @Test func `frames are handled in order, and answers are sent at the end of the pass`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            pair.connection.onFrame(.lines()) { connection, line in
                connection.write("<")
                connection.write(line)
                connection.write([0x3e])
                connection.write("\(text(line).count)\n")
                let sent = recorded { try pair.read() } ?? nil
                #expect(sent == nil, "nothing is sent before the end of the pass")
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("one\ntwo\r\nthr")
            loop.settle()
            #expect(try pair.read() == "<one>3\n<two>3\n")
            try pair.send("ee\n")
            loop.settle()
            #expect(try pair.read() == "<three>5\n")
            #expect(pair.connection.receivedByteCount == 15)
            #expect(pair.connection.sentByteCount == 23)
            #expect(pair.connection.unsentByteCount == 0)
        }
    }

    @Test func `bytes that a handler leaves come again with more`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            var seen: [String] = []
            pair.connection.onReceive { _, bytes in
                seen.append(text(bytes))
                return bytes.byteCount / 2
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("abcd")
            loop.settle()
            try pair.send("ef")
            loop.settle()
            #expect(seen == ["abcd", "cdef"])
        }
    }

    // Guarantees: A peer that ends its stream gets all that was written before.
    @Test func `a peer that ends its stream gets all answers before the connection ends`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onFrame(.lines()) { connection, line in connection.write("answer\n") }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("question\n")
            pair.endSending()
            loop.run()
            #expect(calls.list == ["end: \(Connection.EndReason.peerClosed)"])
            #expect(try pair.read() == "answer\n")
            #expect(try pair.read() == "")
            #expect(!pair.connection.isOpen)
        }
    }

    @Test func `a stream that ends in a frame is incomplete`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            try loop.add(pair.connection, forMode: .default)
            try pair.send("whole\npart")
            pair.endSending()
            loop.run()
            #expect(calls.list == ["whole", "end: \(Connection.EndReason.incompleteInput)"])
        }
    }

    @Test(arguments: ["whole\npart", "part"])
    func `a peer whose stream ends in a frame gets the answers to the frames before`(sent: String) throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onFrame(.lines()) { connection, line in connection.write("answer\n") }
            try loop.add(pair.connection, forMode: .default)
            try pair.send(sent)
            pair.endSending()
            loop.run()
            #expect(calls.list == ["end: \(Connection.EndReason.incompleteInput)"])
            if sent.hasPrefix("whole") { #expect(try pair.read() == "answer\n") }
            #expect(try pair.read() == "")
        }
    }

    @Test func `with a handler of the input's end the output stays open`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onInputEnd { connection in
                calls.list.append("input ended")
                connection.write("later")
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("a\n")
            pair.endSending()
            loop.settle()
            #expect(calls.list == ["a", "input ended"])
            #expect(try pair.read() == "later")
            #expect(try pair.read() == nil)
            pair.connection.endOutput()
            loop.run()
            #expect(calls.list.last == "end: \(Connection.EndReason.peerClosed)")
            #expect(try pair.read() == "")
        }
    }

    @Test func `output that is ended first leaves the input open`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            try loop.add(pair.connection, forMode: .default)
            pair.connection.write("bye")
            pair.connection.endOutput()
            #expect(!pair.connection.write("discarded"))
            loop.settle()
            #expect(try pair.read() == "bye")
            #expect(try pair.read() == "")
            try pair.send("still\n")
            loop.settle()
            #expect(calls.list == ["still"])
            pair.closePeer()
            loop.run()
            #expect(calls.list == ["still", "end: \(Connection.EndReason.peerClosed)"])
        }
    }

    // Guarantees: The socket is closed when the handler of the end is called.
    @Test func `closing closes the socket at once and tells the end later, once`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            try loop.add(pair.connection, forMode: .default)
            pair.connection.write("never sent")
            pair.connection.close()
            #expect(try pair.read() == "", "the socket is closed")
            #expect(calls.list == [], "the end is not told inside the call")
            pair.connection.close()
            pair.connection.closeAfterWriting()
            loop.run()
            #expect(calls.list == ["end: \(Connection.EndReason.closed)"])
            loop.settle()
            #expect(calls.list.count == 1)
        }
    }

    @Test func `what a handler closes ends when the handler has returned`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onFrame(.lines()) { connection, line in
                calls.list.append(text(line))
                connection.close()
                loop.settle()
                calls.list.append("returns")
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("a\nb\n")
            loop.run()
            #expect(calls.list == ["a", "returns", "end: \(Connection.EndReason.closed)"])
        }
    }

    @Test func `closing after writing sends all, and waits for the peer to close`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            try loop.add(pair.connection, forMode: .default)
            pair.connection.write("all")
            pair.connection.closeAfterWriting()
            try pair.send("discarded\n")
            loop.settle()
            #expect(try pair.read() == "all")
            #expect(try pair.read() == "")
            try pair.send("discarded, too\n")
            loop.settle()
            #expect(calls.list == [])
            pair.closePeer()
            loop.run()
            #expect(calls.list == ["end: \(Connection.EndReason.closed)"])
        }
    }

    @Test func `a paused connection receives nothing, and goes on with what it has`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onFrame(.lines()) { connection, line in
                calls.list.append(text(line))
                connection.isReadingPaused = true
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("a\nb\nc\n")
            loop.settle()
            #expect(calls.list == ["a"])
            pair.connection.isReadingPaused = false
            loop.settle()
            #expect(calls.list == ["a", "b"])
            pair.connection.onFrame(.lines()) { _, line in calls.list.append(text(line)) }
            pair.connection.isReadingPaused = false
            try pair.send("d\n")
            loop.settle()
            #expect(calls.list == ["a", "b", "c", "d"])
        }
    }

    // Guarantees: No handler of a connection is called inside another handler of the same connection, even if a handler runs the
    // loop.
    // Guarantees: A run inside a handler does not spin, even if bytes wait for the handler's connection.
    @Test func `a handler that runs the loop is not called again meanwhile, and misses nothing`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let other = try Pair()
            let calls = Calls()
            var isFirst = true
            pair.connection.onFrame(.lines()) { connection, line in
                calls.list.append("in " + text(line))
                if isFirst {
                    isFirst = false
                    recorded { try pair.send("b\n") }
                    recorded { try other.send("other\n") }
                    connection.write("written\n")
                    let before = loop.statistics.passes
                    loop.run(until: .now + .milliseconds(30))
                    #expect(loop.statistics.passes - before < 20, "a run inside the handler does not spin")
                    let sent = recorded { try pair.read() } ?? nil
                    #expect(sent == "written\n", "what was written is sent meanwhile")
                }
                calls.list.append("out " + text(line))
            }
            other.connection.onFrame(.lines()) { _, line in calls.list.append(text(line)) }
            try loop.add(pair.connection, forMode: .default)
            try loop.add(other.connection, forMode: .default)
            try pair.send("a\n")
            loop.settle()
            #expect(calls.list == ["in a", "other", "out a", "in b", "out b"])
        }
    }

    @Test func `one handler replaces another, and gets what follows`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            pair.connection.onFrame(.lines()) { connection, line in
                calls.list.append(text(line))
                connection.onFrame(.fixed(4)) { connection, body in
                    calls.list.append(text(body))
                    connection.onReceive { _, bytes in
                        calls.list.append(text(bytes))
                        return bytes.byteCount
                    }
                }
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("length 4\nbodyrest")
            loop.settle()
            #expect(calls.list == ["length 4", "body", "rest"])
        }
    }

    @Test func `a connection is served in its modes only`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            let mode = RunLoop.Mode("other")
            let keep = Timer(timeInterval: .seconds(600), repeats: false) { _ in }
            loop.add(keep, forMode: .default)
            try loop.add(pair.connection, forMode: mode)
            try pair.send("a\n")
            loop.settle()
            #expect(calls.list == [])
            loop.settle(in: mode)
            #expect(calls.list == ["a"])
            try loop.add(pair.connection, forMode: .default)
            loop.remove(pair.connection, forMode: mode)
            try pair.send("b\n")
            loop.settle(in: mode)
            #expect(calls.list == ["a"])
            loop.settle()
            #expect(calls.list == ["a", "b"])
            loop.remove(pair.connection, forMode: .default)
            try pair.send("c\n")
            loop.settle()
            #expect(calls.list == ["a", "b"])
            #expect(pair.connection.isOpen)
            try loop.add(pair.connection, forMode: .common)
            loop.settle()
            #expect(calls.list == ["a", "b", "c"])
        }
    }

    @Test func `what a handler leaves when it changes the mode is for the new mode`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            let mode = RunLoop.Mode("other")
            pair.connection.onFrame(.lines()) { connection, line in
                calls.list.append(text(line))
                if calls.list.count == 1 {
                    recorded { try loop.add(connection, forMode: mode) }
                    loop.remove(connection, forMode: .default)
                }
            }
            let keep = Timer(timeInterval: .seconds(600), repeats: false) { _ in }
            loop.add(keep, forMode: .default)
            try loop.add(pair.connection, forMode: .default)
            try pair.send("a\nb\nc\n")
            loop.settle()
            #expect(calls.list == ["a"])
            loop.settle(in: mode)
            #expect(calls.list == ["a", "b", "c"])
        }
    }

    @Test func `the idle time begins when a connection is added`() throws {
        try RunLoopSimulation.run(seed: 1) { simulation in
            var options = Connection.Options()
            options.idleTimeout = .seconds(5)
            let pair = try Pair(options)
            let calls = Calls()
            calls.watch(pair.connection)
            simulation.advance(by: .seconds(60))
            try RunLoop.current.add(pair.connection, forMode: .default)
            simulation.advance(by: .milliseconds(4900))
            #expect(calls.list == [])
            simulation.advance(by: .milliseconds(100))
            #expect(calls.list == ["end: \(Connection.EndReason.timedOut(.idle))"])
        }
    }

    @Test func `a mode without connections is empty again`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            try loop.add(pair.connection, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            loop.remove(pair.connection, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .finished)
        }
    }

    // Guarantees: When the thread of the loop ends, its connections end with a reason.
    @Test func `the end of the thread ends its connections`() throws {
        let log = Log<String>()
        let gate = Gate()
        try RunLoopThread.detach(name: "ends") { loop in
            guard let pair = recorded({ try Pair() }) else { return }
            pair.connection.onEnd { connection, reason in log.add("\(reason), \(connection.isOpen)") }
            recorded { try loop.add(pair.connection, forMode: .default) }
            loop.addEndHandler { gate.open() }
        }
        #expect(gate.wait())
        waitUntil("the end is told") { !log.entries.isEmpty }
        #expect(log.entries == ["\(Connection.EndReason.loopEnded), false"])
    }

    @Test func `at the end of the thread a handler may close what else the thread has`() throws {
        let log = Log<String>()
        let hasEnded = Gate()
        try RunLoopThread.detach(name: "ends") { loop in
            defer { hasEnded.open() }
            guard let pairs = recorded({ try (0..<3).map { _ in try Pair() } }),
                let listener = recorded({ try Listener(.tcp(host: "127.0.0.1", port: 0)) })
            else { return }
            for pair in pairs {
                pair.connection.onEnd { _, reason in
                    log.add("\(reason)")
                    for other in pairs { other.connection.closeAfterWriting() }
                    for other in pairs { other.connection.close() }
                    listener.invalidate()
                }
                recorded { try loop.add(pair.connection, forMode: .default) }
            }
            recorded { try loop.add(listener, forMode: .default) { accepted in _ = accepted.release() } }
        }
        #expect(hasEnded.wait())
        waitUntil("all ends are told") { log.entries.count == 3 }
        #expect(log.entries.first == "\(Connection.EndReason.loopEnded)")
    }

    @Test func `a handler that another one replaces leaves it the rest`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            var seen: [String] = []
            pair.connection.onReceive { connection, bytes in
                seen.append("first " + text(bytes))
                connection.onReceive { _, bytes in
                    seen.append("second " + text(bytes))
                    return bytes.byteCount
                }
                return 2
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("abcd")
            loop.settle()
            #expect(seen == ["first abcd", "second cd"])
        }
    }

    @Test func `a handler that looks, and sets one of frames, leaves it all`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            var seen: [String] = []
            pair.connection.onReceive { connection, bytes in
                connection.onFrame(.lines()) { _, line in seen.append(text(line)) }
                return 0
            }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("GET\nrest")
            loop.settle()
            #expect(seen == ["GET"])
        }
    }

    @Test func `frames that were stored come before the end of the stream`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let other = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            pair.connection.onFrame(.lines()) { connection, line in
                calls.list.append(text(line))
                if calls.list.count == 1 { connection.isReadingPaused = true }
            }
            other.connection.onFrame(.lines()) { _, _ in pair.connection.isReadingPaused = false }
            try loop.add(other.connection, forMode: .default)
            try loop.add(pair.connection, forMode: .default)
            try pair.send("a\nb\nc\n")
            loop.settle()
            #expect(calls.list == ["a"])
            // One pass reports both connections, first the one whose handler resumes the other.
            try other.send("resume\n")
            pair.endSending()
            loop.settle()
            #expect(
                calls.list == ["a", "b", "c", "end: \(Connection.EndReason.peerClosed)"]
                    || calls.list == ["a", "b", "c"])
            pair.closePeer()
            other.connection.close()
            loop.run()
            #expect(calls.list == ["a", "b", "c", "end: \(Connection.EndReason.peerClosed)"])
        }
    }

    @Test func `a handler of the end is called in a mode of its connection`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let calls = Calls()
            calls.watch(pair.connection)
            var options = pair.connection.options
            options.highWaterMark = 10
            pair.connection.options = options
            pair.connection.onDrained { _ in
                calls.list.append("drained in \(loop.currentMode?.rawValue ?? "none")")
            }
            try loop.add(pair.connection, forMode: .default)
            let mode = RunLoop.Mode("other")
            let writes = Timer(timeInterval: .zero, repeats: false) { _ in
                pair.connection.write("more than ten bytes")
            }
            loop.add(writes, forMode: mode)
            loop.run(in: mode, until: .now + .milliseconds(5))
            #expect(calls.list == [])
            loop.pass()
            #expect(calls.list == ["drained in \(RunLoop.Mode.default.rawValue)"])
        }
    }

    @Test func `a socket that is no stream is refused and closed`() throws {
        let socket = Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #expect(throws: SystemError(call: "getsockopt", code: EPROTOTYPE)) {
            _ = try Connection(OwnedDescriptor(socket))
        }
        #expect(fcntl(socket, F_GETFD) == -1)
        let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
        #expect { _ = try Connection(try listener.duplicateSocket()) } throws: { error in
            (error as? SystemError)?.code == EPROTOTYPE
        }
    }
}

import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The code of the landing page and of the article "Connections".
@Suite struct ConnectionsSnippets {
    /// Uses the echo server of the landing page.
    @Test func `an echo server echoes`() throws {
        let gate = Gate()
        let place = Log<UInt16>()
        try RunLoopThread.detach(name: "server") { loop in
            do {
                try serveEcho { port in
                    place.add(port)
                    gate.open()
                }
            } catch { Issue.record(error) }
        }
        #expect(gate.wait())
        let print = Printed()
        try onLoopThread { _ in try talk(port: place.entries[0], print) }
        #expect(print.lines.first == "connected")
        #expect(print.lines.contains("received 5 bytes"))
        #expect(print.lines.last == "ended: closed on this side")
    }

    @Test func `a handler of lines is replaced by one of a body`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let connection = pair.connection
            connection.onFrame(.lines()) { connection, line in
                guard line.byteCount == 0 else { return }
                // The empty line ends the header; a body of 16 bytes follows.
                connection.onFrame(.fixed(16)) { connection, body in
                    connection.write(body)
                }
            }
            try loop.add(connection, forMode: .default)
            try pair.send("Name: value\r\n\r\n0123456789abcdef")
            loop.settle()
            #expect(try pair.read() == "0123456789abcdef")
        }
    }

    @Test func `records end with a zero byte`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let connection = pair.connection
            var records: [String] = []
            connection.onFrame(.delimited(by: 0, upTo: 4096)) { _, record in
                records.append(String(decoding: record, as: UTF8.self))
            }
            try loop.add(connection, forMode: .default)
            try pair.send("one\0two\nlines\0rest")
            loop.settle()
            #expect(records == ["one", "two\nlines"])
        }
    }

    @Test func `one connection is forwarded to another, as fast as that one is read`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.highWaterMark = 10_000
            let source = try Pair()
            let target = try Pair(options)
            forward(from: source.connection, to: target.connection)
            try loop.add(source.connection, forMode: .default)
            try loop.add(target.connection, forMode: .default)
            var sent = 0
            var read = 0
            for _ in 0..<2000 {
                sent += try Loopback.write([UInt8](repeating: 3, count: 4096), to: source.peer)
                loop.settle()
            }
            #expect(target.connection.unsentByteCount < 100_000, "the source is paused")
            source.endSending()
            while let bytes = try target.read() ?? "more" as String?, !bytes.isEmpty {
                if bytes != "more" { read += bytes.utf8.count }
                loop.settle()
            }
            #expect(read == sent)
        }
    }

    private func forward(from source: Connection, to target: Connection) {
        source.onReceive { source, bytes in
            if !target.write(bytes) { source.isReadingPaused = true }
            return bytes.byteCount
        }
        target.onDrained { _ in source.isReadingPaused = false }
        source.onInputEnd { _ in target.endOutput() }
    }

    @Test func `a connection talks to a child over pipes`() throws {
        try onLoopThread { loop in
            let toChild = try OwnedDescriptor.pipe()
            let fromChild = try OwnedDescriptor.pipe()
            // The child is a connection, too.
            let child = try Connection(reading: toChild.readingEnd, writing: fromChild.writingEnd)
            child.onFrame(.lines()) { child, line in
                child.write(line)
                child.write("!\n")
            }
            try loop.add(child, forMode: .default)
            var answers: [String] = []
            let connection = try Connection(
                reading: fromChild.readingEnd, writing: toChild.writingEnd)
            connection.onFrame(.lines()) { _, line in answers.append(String(decoding: line, as: UTF8.self)) }
            connection.write("a question\n")
            connection.endOutput()
            try RunLoop.current.add(connection, forMode: .default)
            loop.run(until: "both end") { !child.isOpen && !connection.isOpen }
            #expect(answers == ["a question!"])
        }
    }

    private func talk(port: UInt16, _ print: Printed) throws {
        let connection = Connection(connectingTo: .tcp(host: "localhost", port: port))
        connection.onConnect { _ in print("connected") }
        connection.onFrame(.lines(upTo: 512)) { connection, line in
            print("received \(line.byteCount) bytes")
            connection.closeAfterWriting()
        }
        connection.onEnd { _, reason in print("ended:", reason) }
        connection.write("hello\n")
        try RunLoop.current.add(connection, forMode: .default)
        RunLoop.current.run()
    }
}

/// Returns a port that was free a moment ago.
private func freePort() throws -> UInt16 {
    let listener = try Listener(.tcp(port: 0))
    defer { listener.invalidate() }
    return try #require(listener.localAddress.port)
}

private func serveEcho(isReady: @escaping @Sendable (UInt16) -> Void) throws {
    let port = try freePort()
    // The run performs this block when the server listens.
    RunLoop.current.perform { isReady(port) }
    let listener = try Listener(.tcp(port: port))
    try RunLoop.current.add(listener, forMode: .default) { accepted in
        let connection = Connection(accepted)
        connection.onFrame(.lines()) { connection, line in
            connection.write(line)
            connection.write("\n")
        }
        try? RunLoop.current.add(connection, forMode: .default)
    }
    RunLoop.current.run()
}

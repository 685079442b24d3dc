import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Connections over pipes, FIFOs, terminals and devices behave as over sockets.
@Suite struct ConnectionFileTests {
    /// A connection over two pipes, and the other ends.
    private final class Pipes {
        let connection: Connection
        private(set) var input: CInt
        private(set) var output: CInt

        init(_ options: Connection.Options = .init()) throws {
            let toConnection = try OwnedDescriptor.pipe()
            let fromConnection = try OwnedDescriptor.pipe()
            try toConnection.writingEnd.setNonBlocking()
            try fromConnection.readingEnd.setNonBlocking()
            connection = try Connection(
                reading: toConnection.readingEnd, writing: fromConnection.writingEnd, options: options)
            input = toConnection.writingEnd.release()
            output = fromConnection.readingEnd.release()
        }

        deinit {
            closeInput()
            closeOutput()
        }

        func send(_ text: String) {
            #expect(unsafe Glibc.write(input, text, text.utf8.count) == text.utf8.count)
        }

        func read() -> String? {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = unsafe Glibc.read(output, &bytes, bytes.count)
            return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
        }

        func closeInput() {
            if input >= 0 { close(input) }
            input = -1
        }

        func closeOutput() {
            if output >= 0 { close(output) }
            output = -1
        }
    }

    @Test func `a pair of pipes gets frames and sends answers, and its output ends alone`() throws {
        try onLoopThread { loop in
            let pipes = try Pipes()
            let calls = Calls()
            calls.watch(pipes.connection)
            pipes.connection.onInputEnd { _ in calls.list.append("input ended") }
            try loop.add(pipes.connection, forMode: .default)
            for character in "one\ntwo\n" {
                pipes.send(String(character))
                loop.settle()
            }
            #expect(calls.list == ["one", "two"])
            pipes.connection.write("answer")
            loop.settle()
            #expect(pipes.read() == "answer")
            #expect(pipes.read() == nil)
            pipes.connection.endOutput()
            loop.settle()
            #expect(pipes.read() == "", "the reader gets the end")
            pipes.send("three\n")
            loop.settle()
            pipes.closeInput()
            loop.settle()
            loop.run(until: "it ends") { !pipes.connection.isOpen }
            loop.settle()
            #expect(calls.list == ["one", "two", "three", "input ended", "end: closed by the peer"])
        }
    }

    @Test(arguments: 0...8) func `a stream that is cut at any byte loses no whole frame`(count: Int) throws {
        try onLoopThread { loop in
            let pipes = try Pipes()
            let calls = Calls()
            calls.watch(pipes.connection)
            try loop.add(pipes.connection, forMode: .default)
            pipes.send(String("ab\ncd\nef".prefix(count)))
            pipes.closeInput()
            pipes.closeOutput()
            loop.run(until: "it ends") { !pipes.connection.isOpen }
            loop.settle()
            let frames = count >= 6 ? ["ab", "cd"] : count >= 3 ? ["ab"] : []
            #expect(Array(calls.list.dropLast()) == frames)
            let ends: [Connection.EndReason] = [.reset, count % 3 == 0 ? .peerClosed : .incompleteInput]
            #expect(ends.contains { calls.list.last == "end: \($0)" })
        }
    }

    @Test
    func
        `a reader that never reads makes the connection wait, time out or reach its limit, and gets all when it reads`()
        throws
    {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.outputLimit = 500_000
            let pipes = try Pipes(options)
            var (isDrained, reason): (Bool, Connection.EndReason?) = (false, nil)
            pipes.connection.onDrained { _ in isDrained = true }
            pipes.connection.onEnd { reason = $1 }
            try loop.add(pipes.connection, forMode: .default)
            #expect(!pipes.connection.write([UInt8](repeating: 0x61, count: 300_000)))
            for _ in 0..<10 { loop.pass() }
            #expect(pipes.connection.unsentByteCount > 0 && !isDrained)
            var total = 0
            while total < 300_000 {
                total += pipes.read()?.utf8.count ?? 0
                loop.settle()
            }
            #expect(isDrained && pipes.connection.unsentByteCount == 0)
            pipes.connection.write([UInt8](repeating: 0x61, count: 600_000))
            loop.settle()
            pipes.connection.write("x")
            loop.settle()
            #expect(reason == .limit(.output(500_000)))
        }
    }

    // Guarantees: A reader that has gone ends a connection over pipes or a terminal, and raises no signal.
    @Test(arguments: [true, false]) func `a pipe without a reader ends the connection, without a signal`(
        writes: Bool
    ) throws {
        try onLoopThread { loop in
            let pipes = try Pipes()
            var reason: Connection.EndReason?
            pipes.connection.onEnd { reason = $1 }
            try loop.add(pipes.connection, forMode: .default)
            loop.settle()
            pipes.closeOutput()
            if writes { pipes.connection.write("x") }
            loop.run(until: "it ends") { reason != nil }
            #expect(reason == .reset)
        }
    }

    @Test func `one end of a pipe has one direction`() throws {
        try onLoopThread { loop in
            let pipe = try OwnedDescriptor.pipe()
            let reader = try Connection(pipe.readingEnd)
            let writer = try Connection(pipe.writingEnd)
            let calls = Calls()
            calls.watch(reader)
            try loop.add(reader, forMode: .default)
            try loop.add(writer, forMode: .default)
            #expect(!reader.write("x"), "nothing can be written")
            #expect(writer.write("one\ntwo\n"))
            writer.closeAfterWriting()
            loop.run(until: "both end") { !reader.isOpen && !writer.isOpen }
            loop.settle()
            #expect(calls.list == ["one", "two", "end: closed by the peer"])
        }
    }

    @Test func `the writing end of a pipe ends when nobody reads any more`() throws {
        try onLoopThread { loop in
            let pipe = try OwnedDescriptor.pipe()
            let writer = try Connection(pipe.writingEnd)
            let other = pipe.readingEnd.release()
            var reason: Connection.EndReason?
            writer.onEnd { reason = $1 }
            try loop.add(writer, forMode: .default)
            loop.settle()
            #expect(reason == nil)
            close(other)
            loop.run(until: "it ends") { reason != nil }
            #expect(reason == .reset)
        }
    }

    @Test func `a connection over pipes is removed, ended elsewhere and released like another`() throws {
        try onLoopThread { loop in
            let pipes = try Pipes()
            let calls = Calls()
            calls.watch(pipes.connection)
            try loop.add(pipes.connection, forMode: .default)
            loop.remove(pipes.connection, forMode: .default)
            pipes.send("one\n")
            loop.pass()
            #expect(calls.list == [])
            #expect(loop.run(in: .default, until: .distantPast) == .finished)
            try loop.add(pipes.connection, forMode: .default)
            loop.settle()
            #expect(calls.list == ["one"])
            nonisolated(unsafe) let connection = pipes.connection
            try BareThread { unsafe connection.close() }.join()
            loop.settle()
            loop.pass()
            #expect(calls.list == ["one", "end: closed on this side"])
            #expect(pipes.read() == "")
            #expect(loop.run(in: .default, until: .distantPast) == .finished, "no descriptor is watched")
        }
    }

    @Test func `of 100,000 frames over a pipe, each arrives once and in order`() throws {
        try onLoopThread { loop in
            let total = 100_000
            let pipe = try OwnedDescriptor.pipe()
            let reader = try Connection(pipe.readingEnd)
            let writer = try Connection(pipe.writingEnd)
            var (received, misplaced, next) = (0, 0, 0)
            reader.onFrame(.lines()) { _, line in
                if text(line) != "\(received)" { misplaced += 1 }
                received += 1
            }
            func writeMore() {
                while next < total {
                    next += 1
                    if !writer.write("\(next - 1)\n") { return }
                }
                writer.closeAfterWriting()
            }
            writer.onDrained { _ in writeMore() }
            try loop.add(reader, forMode: .default)
            try loop.add(writer, forMode: .default)
            writeMore()
            loop.run(until: "all arrive, and both end") { !reader.isOpen && !writer.isOpen }
            #expect(received == total && misplaced == 0)
        }
    }

    @Test func `out of descriptors, an open connection goes on, and only a further mode is refused`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let pipes = try Pipes()
                let calls = Calls()
                calls.watch(pipes.connection)
                try loop.add(pipes.connection, forMode: .default)
                loop.settle()
                let bound = try boundOfDescriptors()
                let mode = RunLoop.Mode("other")
                let code = refusal(bound, free: 0) {
                    pipes.send("one\n")
                    loop.settle()
                    pipes.connection.write("answer")
                    loop.settle()
                    try #require(calls.list == ["one"] && pipes.read() == "answer")
                    try loop.add(pipes.connection, forMode: mode)
                }
                try #require(code == EMFILE)
                pipes.send("two\n")
                loop.settle()
                try loop.add(pipes.connection, forMode: mode)
                pipes.send("three\n")
                loop.settle(in: mode)
                try #require(calls.list == ["one", "two", "three"])
                pipes.connection.close()
                loop.settle()
                try #require(openDescriptors(from: bound) == 0)
            }
        }
    }

    @Test func `a second descriptor that the kernel does not watch leaves the connection as it was`() throws {
        try onLoopThread { loop in
            let pipes = try Pipes()
            let calls = Calls()
            calls.watch(pipes.connection)
            // Another member keeps the group of the mode, so that only the descriptors of the connection are refused.
            let other = try Pair()
            other.connection.onEnd { _, _ in }
            try loop.add(other.connection, forMode: .default)
            #expect(throws: SystemError(call: "epoll_ctl", code: ENOSPC)) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(pipes.connection, forMode: .default) }
            }
            try loop.add(pipes.connection, forMode: .default)
            pipes.send("one\n")
            loop.settle()
            #expect(calls.list == ["one"])
            pipes.connection.close()
            other.connection.close()
        }
    }
}

import Glibc
import NIOCore
import NIOPosix

/// A server with one connection.
private struct Pair {
    let channel: any Channel
    let client: RawClient
    let log: Log

    init(_ backend: Backend, halfClosure: Bool = false) throws {
        let log = Log()
        let child = Place<any Channel>()
        let server = try backend.bind(halfClosure: halfClosure) {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }
        client = RawClient(server)
        log.wait(for: "active:true")
        channel = child.get()
        self.log = log
    }
}

let outputRows = [
    Comparison("close(mode: .output) sends everything, and then the end") { backend in
        let pair = try Pair(backend)
        let channel = pair.channel
        // In one task, so that the bytes are still stuck when the output is closed.
        let (write, end, late) = try channel.eventLoop.submit {
            (
                channel.writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20)),
                channel.close(mode: .output),
                channel.writeAndFlush(ByteBuffer(string: "late"))
            )
        }.wait()
        let count = pair.client.readToEnd()
        let text = "\(count) \(result(write)) \(result(end)) late:\(result(late)) \(channel.isActive)"
        pair.client.send("x")
        pair.log.wait(for: "read:x")
        return "\(text) / \(result(channel.writeAndFlush(ByteBuffer(string: "later")))) / \(pair.log.text)"
    },
    Comparison("close(mode: .output) twice") { backend in
        let pair = try Pair(backend)
        let first = pair.channel.close(mode: .output)
        let second = pair.channel.close(mode: .output)
        return "\(result(first)) \(result(second)) \(pair.client.read(1)) \(pair.log.text)"
    },
    Comparison("close(mode: .input), and then bytes") { backend in
        let pair = try Pair(backend, halfClosure: true)
        let first = result(pair.channel.close(mode: .input))
        let second = result(pair.channel.close(mode: .input))
        let write = result(pair.channel.writeAndFlush(ByteBuffer(string: "still")))
        let text = pair.client.read(5)
        return "\(first) \(second) \(write) \(text) \(pair.channel.isActive)"
    },
    Comparison("both directions are closed one by one") { backend in
        let pair = try Pair(backend, halfClosure: true)
        let first = result(pair.channel.close(mode: .input))
        let second = result(pair.channel.close(mode: .output))
        pair.log.wait(for: "removed")
        // SwiftNIO can read once more after the end of the input, depending on when the kernel reports that.
        let text = pair.log.text.replacing(" complete", with: "")
        return "\(first) \(second) \(pair.channel.isActive) \(text) \(pair.client.read(1))"
    },
    Comparison("writability, and the order of promises") { backend in
        let pair = try Pair(backend)
        let (channel, log) = (pair.channel, pair.log)
        for number in 0..<4 {
            channel.write(ByteBuffer(repeating: 1, count: 4 << 20)).whenSuccess {
                log.note("sent\(number)")
            }
        }
        channel.writeAndFlush(ByteBuffer()).whenSuccess { log.note("sentNothing") }
        var count = 0
        while count < 16 << 20 { count += pair.client.read(1 << 20).utf8.count }
        pair.log.wait(for: "sentNothing")
        pair.log.wait(for: "writable:true")
        // The kernel decides after which bytes the channel is writable again.
        return "\(count) " + pair.log.text.replacing(" writable:true", with: "")
    },
    Comparison("own marks of writability") { backend in
        let pair = try Pair(backend)
        let channel = pair.channel
        try channel.setOption(.writeBufferWaterMark, value: .init(low: 2, high: 4)).wait()
        let buffered = try channel.eventLoop.submit {
            var words = ["\(channel.isWritable)"]
            channel.write(ByteBuffer(string: "abcd"), promise: nil)
            words.append("\(channel.isWritable)")
            channel.write(ByteBuffer(string: "e"), promise: nil)
            words.append("\(channel.isWritable)")
            return words.joined(separator: " ")
        }.wait()
        let count = try channel.getOption(.bufferedWritableBytes).wait()
        channel.flush()
        let text = pair.client.read(5)
        pair.log.wait(for: "writable:true")
        return "\(buffered) \(count) \(text) \(pair.log.text)"
    },
    Comparison("a promise is kept while later bytes are stuck") { backend in
        let pair = try Pair(backend)
        pair.log.note("first", pair.channel.write(ByteBuffer(string: "first")))
        pair.log.note("second", pair.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20)))
        pair.log.wait(for: "first:ok")
        pair.log.note("|")
        try pair.channel.close().wait()
        pair.log.wait(for: "removed")
        return "\(pair.client.socket >= 0) \(pair.log.text)"
    },
    Comparison(
        "close() fails the writes that wait",
        differences: .init(
            on: [.secureConnection], reason: "a TLS peer hears that the stream is not complete",
            onRunLoop:
                "I/O-on-closed-channel I/O-on-closed-channel ok Already-closed ok after:I/O-on-closed-channel "
                + "active:false false")
    ) { backend in
        let pair = try Pair(backend)
        let channel = pair.channel
        let flushed = channel.writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20))
        let unflushed = channel.write(ByteBuffer(string: "x"))
        let first = channel.close()
        let second = channel.close()
        let all = [
            result(flushed), result(unflushed), result(first), result(second), result(channel.closeFuture),
        ]
        let after = result(channel.writeAndFlush(ByteBuffer(string: "y")))
        return
            "\(all.joined(separator: " ")) after:\(after) active:\(channel.isActive) \(pair.client.readToEnd() >= 0)"
    },
    // Through the relay, the reset can arrive before the writes are stuck.
    Comparison("the peer resets the connection while writes wait", kinds: Backend.Kind.plain) { backend in
        let pair = try Pair(backend)
        pair.log.note("write", pair.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20)))
        pair.log.note("unflushed", pair.channel.write(ByteBuffer(string: "x")))
        try pair.channel.eventLoop.submit {}.wait()
        pair.client.reset()
        pair.log.wait(for: "removed")
        // The kernel's timing decides whether a read learns of the reset, which the handlers are told, or the next write.
        return pair.log.text.replacing(" error:errno-104", with: "")
    },
    Comparison("empty writes, and a flush without writes") { backend in
        let pair = try Pair(backend)
        let channel = pair.channel
        channel.flush()
        pair.log.note("empty", channel.writeAndFlush(ByteBuffer()))
        pair.log.note("text", channel.write(ByteBuffer(string: "a")))
        pair.log.note("empty", channel.write(ByteBuffer()))
        pair.log.note("text", channel.writeAndFlush(ByteBuffer(string: "b")))
        let text = pair.client.read(2)
        pair.log.wait(for: "text:ok", times: 2)
        return "\(text) \(pair.log.text)"
    },
    Comparison("a callback of a write writes and closes") { backend in
        let pair = try Pair(backend)
        let channel = pair.channel
        let log: Log = pair.log
        try channel.eventLoop.submit {
            channel.write(ByteBuffer(string: "a")).whenSuccess {
                channel.writeAndFlush(ByteBuffer(string: "c")).whenSuccess { channel.close(promise: nil) }
            }
            log.note("second", channel.writeAndFlush(ByteBuffer(string: "b")))
        }.wait()
        let text = pair.client.read(4)
        pair.log.wait(for: "removed")
        return "\(text) \(pair.log.text)"
    },
    Comparison("regions of a file between buffers") { backend in
        let pair = try Pair(backend)
        var template = Array("/tmp/run-loops-nio-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        unlink(template)
        let contents = Array(String(repeating: "0123456789", count: 100_000).utf8)
        guard write(file, contents, contents.count) == contents.count else { return "no file" }
        let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file)
        let region = FileRegion(fileHandle: handle, readerIndex: 5, endIndex: contents.count)
        let channel = pair.channel
        pair.log.note("before", channel.write(ByteBuffer(string: "<")))
        pair.log.note("file", channel.write(IOData.fileRegion(region)))
        pair.log.note("after", channel.writeAndFlush(ByteBuffer(string: ">")))
        let text = pair.client.read(contents.count - 3)
        pair.log.wait(for: "after:ok")
        try handle.close()
        return "\(text.prefix(8)) \(text.suffix(8)) \(text.utf8.count) \(pair.log.text)"
    },
]

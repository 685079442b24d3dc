import Glibc
import NIOCore
import NIOPosix

private let shape: Set<Backend.Kind> = [.runLoop]

private func bound(_ opening: any DatagramOpening) throws -> any Channel {
    try opening.bind(host: "127.0.0.1", port: 0).wait()
}

let datagramRows = [
    Comparison("a channel of datagrams, and its events", kinds: shape) { backend in
        let log = Log()
        let channel = try bound(backend.recorded(log))
        let facts =
            "\(channel.isActive) \(channel.isWritable) \(channel.localAddress?.port != nil) \(channel.remoteAddress == nil)"
        let end = result(channel.close())
        log.wait(for: "removed")
        return "\(facts) \(end) \(result(channel.close())) \(log.text)"
    },
    Comparison("a datagram and its answer", kinds: shape) { backend in
        let log = Log()
        let server = try backend.answering()
        let client = try bound(backend.recorded(log))
        let sent = result(client.writeAndFlush(envelope("hello", to: server)))
        log.wait(for: "complete")
        try client.close().wait()
        log.wait(for: "removed")
        return "\(sent) \(log.text)"
    },
    Comparison("a connected channel of datagrams", kinds: shape) { backend in
        let log = Log()
        let server = try backend.answering()
        let client = try backend.recorded(log).connect(
            host: "127.0.0.1", port: server.localAddress!.port!
        ).wait()
        let isConnected = client.remoteAddress == server.localAddress
        let bytes = result(client.writeAndFlush(ByteBuffer(string: "bytes")))
        log.wait(for: "complete")
        let addressed = result(client.writeAndFlush(envelope("envelope", to: server)))
        log.wait(for: "complete", times: 2)
        return "\(isConnected) \(bytes) \(addressed) \(log.text)"
    },
    Comparison(
        "a datagram for another address than the peer's", kinds: shape,
        differences: .init(
            reason: "SwiftNIO's error belongs to its own sockets", onRunLoop: "errno-106 true")
    ) { backend in
        let server = try backend.answering()
        let other = try backend.answering()
        let client = try backend.datagrams { _ in }.connect(
            host: "127.0.0.1", port: server.localAddress!.port!
        ).wait()
        return "\(result(client.writeAndFlush(envelope("x", to: other)))) \(client.isActive)"
    },
    Comparison(
        "bytes without an address", kinds: shape,
        differences: .init(reason: "SwiftNIO's error belongs to its own sockets", onRunLoop: "errno-89 true")
    ) { backend in
        let client = try bound(backend.datagrams { _ in })
        return "\(result(client.writeAndFlush(ByteBuffer(string: "x")))) \(client.isActive)"
    },
    Comparison("a peer that is not there", kinds: shape) { backend in
        let log = Log()
        let gone = try backend.answering()
        let port = gone.localAddress!.port!
        try gone.close().wait()
        let client = try backend.recorded(log).connect(host: "127.0.0.1", port: port).wait()
        let sent = result(client.writeAndFlush(ByteBuffer(string: "x")))
        log.wait(for: "error:errno-111")
        return "\(sent) \(client.isActive) \(log.text.contains("inactive"))"
    },
    Comparison("a datagram that is too long", kinds: shape) { backend in
        let server = try backend.answering()
        let log = Log()
        let client = try bound(backend.recorded(log))
        let long = envelope(String(repeating: "x", count: 70_000), to: server)
        let text = "\(result(client.writeAndFlush(long))) \(client.isActive)"
        let next = result(client.writeAndFlush(envelope("short", to: server)))
        log.wait(for: "complete")
        return "\(text) \(next) \(log.text)"
    },
    Comparison("writes are sent by a flush, in order", kinds: shape) { backend in
        let (log, results) = (Log(), Log())
        let server = try backend.answering()
        let client = try bound(backend.recorded(log))
        try client.eventLoop.submit {
            for text in ["a", "b", "c"] { results.note(text, client.write(envelope(text, to: server))) }
        }.wait()
        let before = "\(results.text)|\(log.text)"
        client.flush()
        log.wait(for: "read:c")
        return "\(before) \(results.text) \(log.text.contains("read:a read:b"))"
    },
    Comparison("an empty datagram", kinds: shape) { backend in
        let log = Log()
        let server = try backend.answering()
        let client = try bound(backend.recorded(log))
        let sent = result(client.writeAndFlush(envelope("", to: server)))
        log.wait(for: "complete")
        return "\(sent) \(log.text)"
    },
    Comparison("datagrams are read when they are asked for", kinds: shape) { backend in
        let log = Log()
        let receiver = try bound(backend.recorded(log).option(.autoRead, false))
        let sender = try bound(backend.datagrams { _ in })
        for text in ["1", "2", "3", "4", "5", "6"] {
            try sender.writeAndFlush(envelope(text, to: receiver)).wait()
        }
        func reads() -> [Substring] { log.text.split(separator: " ").filter { $0.hasPrefix("read:") } }
        let before = log.text
        var (count, mostAtOnce) = (0, 0)
        while reads().count < 6 && count < 6 {
            count += 1
            let known = reads().count
            receiver.read()
            log.wait(for: "complete", times: count)
            mostAtOnce = max(mostAtOnce, reads().count - known)
        }
        return "\(before) \(reads()) \(mostAtOnce <= 4)"
    },
    Comparison("a handler that closes the channel reads nothing more", kinds: shape) { backend in
        let log = Log()
        let closing = Reacting(read: { context, _ in context.close(promise: nil) })
        let receiver = try backend.datagrams { channel in
            try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log), closing])
        }.option(.autoRead, false).bind(host: "127.0.0.1", port: 0).wait()
        let sender = try bound(backend.datagrams { _ in })
        for text in ["1", "2", "3"] { try sender.writeAndFlush(envelope(text, to: receiver)).wait() }
        receiver.read()
        log.wait(for: "removed")
        return log.text
    },
    Comparison("the marks of writability", kinds: shape) { backend in
        let log = Log()
        let server = try backend.answering()
        let marks = ChannelOptions.Types.WriteBufferWaterMark(low: 10, high: 20)
        let client = try bound(backend.recorded(log).option(.writeBufferWaterMark, marks))
        let text = try client.eventLoop.submit {
            client.write(envelope("0123456789", to: server), promise: nil)
            client.write(envelope("0123456789x", to: server), promise: nil)
            let before = client.isWritable
            client.flush()
            return "\(before) \(client.isWritable)"
        }.wait()
        log.wait(for: "read:0123456789x")
        return
            "\(text) \(log.text.contains("writable:false writable:true"))"
    },
    Comparison("half of a channel of datagrams", kinds: shape) { backend in
        let client = try bound(backend.datagrams { _ in })
        return
            "\(result(client.close(mode: .output))) \(result(client.close(mode: .input))) \(client.isActive)"
    },
    Comparison("a port that is in use", kinds: shape) { backend in
        let first = try backend.answering()
        return result(backend.datagrams { _ in }.bind(host: "127.0.0.1", port: first.localAddress!.port!))
    },
    Comparison("Unix sockets for datagrams", kinds: shape) { backend in
        let log = Log()
        let place = "/tmp/nio-datagrams-\(getpid())"
        let paths = ["\(place).server", "\(place).client"]
        for path in paths { unlink(path) }
        let server = try backend.datagrams { try $0.pipeline.syncOperations.addHandler(Answering()) }
            .bind(unixDomainSocketPath: paths[0]).wait()
        let client = try backend.recorded(log).bind(unixDomainSocketPath: paths[1]).wait()
        let sent = result(client.writeAndFlush(envelope("over a path", to: server)))
        log.wait(for: "complete")
        try client.close().wait()
        try server.close().wait()
        log.wait(for: "removed")
        for path in paths { unlink(path) }
        return "\(sent) \(log.text)"
    },
    Comparison("writes to a closed channel of datagrams", kinds: shape) { backend in
        let server = try backend.answering()
        let client = try bound(backend.datagrams { _ in })
        let unsent = client.write(envelope("x", to: server))
        try client.close().wait()
        return "\(result(unsent)) \(result(client.writeAndFlush(envelope("y", to: server))))"
    },
    Comparison("options of a channel of datagrams", kinds: shape) { backend in
        let channel = try bound(
            backend.datagrams { _ in }.option(.maxMessagesPerRead, 2).option(
                .socketOption(.so_reuseaddr), 1))
        let reads = try channel.getOption(.maxMessagesPerRead).wait()
        let isAutomatic = try channel.getOption(.autoRead).wait()
        let reuses = try channel.getOption(.socketOption(.so_reuseaddr)).wait()
        return "\(reads) \(isAutomatic) \(reuses)"
    },
    Comparison("a channel of datagrams when its event loops end", kinds: shape) { backend in
        let log = Log()
        _ = try bound(backend.recorded(log))
        try backend.group.syncShutdownGracefully()
        return log.text
    },
]

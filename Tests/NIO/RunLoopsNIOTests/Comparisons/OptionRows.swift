import Glibc
import NIOCore

let optionRows = [
    Comparison("options of the socket") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let server = try backend.listener {
            try $0.syncOptions!.setOption(.socketOption(.so_keepalive), value: 1)
            child.put($0)
        }.serverOption(.socketOption(.so_reuseaddr), 1).bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        let channel = child.get()
        let keepsAlive = try channel.getOption(.socketOption(.so_keepalive)).wait() != 0
        let reuses = try server.getOption(.socketOption(.so_reuseaddr)).wait() != 0
        let other = try backend.client().channelOption(.socketOption(.so_keepalive), value: 1)
            .connect(to: server.localAddress!).wait()
        let isKept = try other.getOption(.socketOption(.so_keepalive)).wait() != 0
        let withoutDelay = try other.getOption(.tcpOption(.tcp_nodelay)).wait() != 0
        let wrong = result(
            channel.setOption(
                ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: 9_999)), value: 1))
        _ = client.socket
        return "\(keepsAlive) \(reuses) \(isKept) \(withoutDelay) \(wrong) \(log.text)"
    },
    // A TLS peer reads the notice of the end first.
    Comparison("the socket is reset when it is closed, if SO_LINGER says so", kinds: Backend.Kind.plain) {
        backend in
        let child = Place<any Channel>()
        let server = try backend.bind { child.put($0) }
        let client = RawClient(server)
        // On and no time: the two fields of a `linger`.
        let value = Int(1)
        try child.get().setOption(.socketOption(.so_linger), value: value).wait()
        try child.get().close().wait()
        return client.read(1)
    },
    Comparison("options of the channel") { backend in
        let child = Place<any Channel>()
        let server = try backend.bind { child.put($0) }
        let client = RawClient(server)
        let channel = child.get()
        var words = [
            "\(try channel.getOption(.autoRead).wait())",
            "\(try channel.getOption(.maxMessagesPerRead).wait())",
            "\(try channel.getOption(.allowRemoteHalfClosure).wait())",
            "\(try channel.getOption(.writeBufferWaterMark).wait())",
            "\(try channel.getOption(.bufferedWritableBytes).wait())",
            "\(try channel.getOption(.writeSpin).wait())", "\(try server.getOption(.autoRead).wait())",
        ]
        try channel.setOption(.maxMessagesPerRead, value: 2).wait()
        try channel.setOption(.allowRemoteHalfClosure, value: true).wait()
        words.append("\(try channel.getOption(.maxMessagesPerRead).wait())")
        words.append("\(try channel.getOption(.allowRemoteHalfClosure).wait())")
        _ = client.socket
        return words.joined(separator: " ")
    },
    // Through the relay, the end can arrive later than the bytes.
    Comparison("an allocator of the user's own", kinds: Backend.Kind.plain) { backend in
        let log = Log()
        let server = try backend.listener { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .childOption(.recvAllocator, FixedSizeRecvByteBufferAllocator(capacity: 2))
            .bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        log.wait(for: "active:true")
        client.send("abcdefghij")
        client.close()
        log.wait(for: "removed")
        return log.text
    },
]

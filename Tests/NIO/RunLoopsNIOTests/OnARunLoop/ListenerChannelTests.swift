import Glibc
import NIOCore
import RunLoops
import RunLoopsNIO
import Streams
import Testing

struct ListenerChannelTests {
    // Guarantees: An accepted channel counts towards the limits of its listener until it is closed.
    @Test(arguments: [false, true])
    func `a channel counts towards the limit of its listener until it is closed`(
        overConnections: Bool
    ) throws {
        let loop = try LoopThread()
        let log = Log()
        var options = Listener.Options()
        options.connectionLimit = 1
        let server = try loop.listener(overConnections: overConnections) { channel in
            try channel.pipeline.syncOperations.addHandlers([Recorder(log), Echo()])
        }.listenerOptions(options).bind(host: "127.0.0.1", port: 0).wait()
        let first = RawClient(server)
        log.wait(for: "active:true")
        let second = RawClient(server)
        second.send("b")
        // Each answer takes a pass, in which the second connection would be accepted.
        for _ in 0..<4 {
            first.send("a")
            #expect(first.read(1) == "a")
        }
        #expect(!log.text.contains("read:b"))
        first.close()
        #expect(second.read(1) == "b")
        loop.end()
    }

    @Test func `a peer beyond its limit is reset`() throws {
        let loop = try LoopThread()
        let log = Log()
        var options = Listener.Options()
        options.connectionLimitPerPeer = 1
        let server = try loop.listener { _ in log.note("child") }
            .listenerOptions(options).bind(host: "127.0.0.1", port: 0).wait()
        let first = RawClient(server)
        log.wait(for: "child")
        let second = RawClient(server)
        #expect(second.readToEnd() == -1)
        _ = first.socket
        loop.end()
    }

    @Test func `a listener that is out of descriptors tells its handlers, and goes on`() async {
        await #expect(processExitsWith: .success) { exit(try ListenerChannelTests.serveWithoutDescriptors()) }
    }

    private static func serveWithoutDescriptors() throws -> CInt {
        let loop = try LoopThread()
        let log = Log()
        let server = try loop.listener { channel in
            try channel.pipeline.syncOperations.addHandler(Echo())
        }.serverChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Errors(log))
            }
        }.bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        client.send("a")
        guard client.read(1) == "a" else { return 1 }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let old = limit.rlim_cur
        // The client gets the last number, and the listener none.
        let refused = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        limit.rlim_cur = rlim_t(refused + 1)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        _ = server.localAddress!.withSockAddr { connect(refused, $0, socklen_t($1)) }
        log.wait(for: "error:errno-\(EMFILE)")
        limit.rlim_cur = old
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let later = RawClient(server)
        later.send("b")
        return later.read(1) == "b" ? 0 : 2
    }

    @Test func `a listener's connections are an asynchronous sequence`() async throws {
        let loop = try LoopThread()
        let server = try await RunLoopListenerBootstrap(group: loop.eventLoop)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let address = try #require(server.channel.localAddress)
        let serving = Task {
            try await server.executeThenClose { connections in
                for try await connection in connections {
                    try await connection.executeThenClose { inbound, outbound in
                        for try await bytes in inbound { try await outbound.write(bytes) }
                    }
                    return
                }
            }
        }
        let client = try await RunLoopConnectionBootstrap(group: loop.eventLoop)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await client.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "hello"))
            var text = ""
            for try await bytes in inbound {
                text += String(buffer: bytes)
                if text == "hello" { break }
            }
            #expect(text == "hello")
        }
        try await serving.value
        try await loop.eventLoop.shutdownGracefully()
        loop.thread.stop()
        await loop.thread.join()
    }

    @Test func `a connected socket becomes a channel`() throws {
        let loop = try LoopThread()
        var ends: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let log = Log()
        let channel = try RunLoopConnectionBootstrap(group: loop.eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Recorder(log))
            }
        }.withConnectedSocket(OwnedDescriptor(ends[0])).wait()
        let peer = ends[1]
        #expect(write(peer, "abc", 3) == 3)
        log.wait(for: "read:abc")
        close(peer)
        try channel.closeFuture.wait()
        loop.end()
    }

    @Test func `wrong ports, names and groups are errors`() throws {
        let loop = try LoopThread()
        let client = RunLoopConnectionBootstrap(group: loop.eventLoop)
        for port in [-1, 65_536, Int.max] {
            #expect(result(client.connect(host: "127.0.0.1", port: port)) == "errno-\(EINVAL)")
        }
        for host in ["", String(repeating: "x", count: 300), "a\u{0}b"] {
            #expect(result(client.connect(host: host, port: 1)) != "ok")
        }
        for address in ["localhost", "", "300.1.1.1"] {
            #expect(result(loop.listener { _ in }.bind(host: address, port: 0)) != "ok")
        }
        loop.end()
    }
}

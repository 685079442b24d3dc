import Glibc
import NIOConcurrencyHelpers
import NIOCore
import RunLoops
import RunLoopsNIO
import Streams
import Testing

/// Channels of datagrams on a run loop.
struct DatagramChannelTests {
    // Guarantees: The promise of a datagram is kept when the kernel has accepted it, and fails when the kernel has refused it; the
    // channel stays open.
    @Test func `ten thousand datagrams come back, and every promise is kept`() throws {
        let loop = try LoopThread()
        let log = Log()
        let (kept, counts) = (NIOLockedValueBox(0), NIOLockedValueBox([String: Int]()))
        let server = try bound(loop) { try $0.pipeline.syncOperations.addHandler(Answering()) }
        let client = try bound(loop) { channel in
            let counting = Reacting(read: { _, text in
                counts.withLockedValue { $0[text, default: 0] += 1 }
                if text == "50" { log.note("round") }
            })
            try channel.pipeline.syncOperations.addHandlers([Opener(), counting])
        }
        for round in 1...200 {
            try client.eventLoop.submit {
                for number in 1...50 {
                    client.write(envelope("\(number)", to: server)).whenSuccess {
                        kept.withLockedValue { $0 += 1 }
                    }
                }
                client.flush()
            }.wait()
            log.wait(for: "round", times: round)
        }
        #expect(kept.withLockedValue { $0 } == 10_000)
        #expect(counts.withLockedValue { $0.count == 50 && $0.values.allSatisfy { $0 == 200 } })
        loop.end()
    }

    @Test func `a socket that may hold one datagram sends them all, in order`() throws {
        let loop = try LoopThread()
        let log = Log()
        var options = DatagramSocket.Options()
        options.unsentLimit = 1
        let server = try bound(loop) {
            try $0.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
        }
        let client = try bound(loop, options: options)
        let results = try client.eventLoop.submit {
            let futures = (0..<100).map { client.write(envelope("\($0)", to: server)) }
            client.flush()
            return EventLoopFuture.andAllSucceed(futures, on: client.eventLoop)
        }.wait()
        try results.wait()
        log.wait(for: "read:99")
        let reads = log.text.split(separator: " ").filter { $0.hasPrefix("read:") }
        #expect(reads == (0..<100).map { "read:\($0)" })
        loop.end()
    }

    @Test func `a channel that is seldom read loses none of the datagrams that it has taken`() throws {
        let loop = try LoopThread()
        let log = Log()
        let receiver = try bootstrap(loop) { channel in
            try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
        }.channelOption(.autoRead, value: false).bind(host: "127.0.0.1", port: 0).wait()
        let sender = try bound(loop)
        for number in 0..<100 { try sender.writeAndFlush(envelope("\(number)", to: receiver)).wait() }
        var reads: [Substring] = []
        var count = 0
        while reads.count < 100 && !log.text.contains("<no ") {
            count += 1
            receiver.read()
            log.wait(for: "complete", times: count)
            reads = log.text.split(separator: " ").filter { $0.hasPrefix("read:") }
        }
        // A read delivers at most four.
        #expect(count >= 25)
        #expect(reads == (0..<100).map { "read:\($0)" })
        loop.end()
    }

    @Test func `a handler that runs the loop gets no datagram inside itself`() throws {
        let (loop, sending) = (try LoopThread(), try LoopThread())
        let log = Log()
        let sender = try bound(sending)
        let receiver = Place<any Channel>()
        receiver.put(
            try bound(loop) { channel in
                let running = Reacting(read: { _, text in
                    log.note("[\(text)")
                    if text == "a" {
                        runLoop(in: .default) {
                            for text in ["b", "c"] {
                                let sent = sender.writeAndFlush(envelope(text, to: receiver.get()))
                                #expect(result(sent) == "ok")
                            }
                            // A block shows that the mode is served, after everything that was sent before.
                            let isServed = Place<Bool>()
                            loop.runLoop.perform(inModes: [.default]) { isServed.put(true) }
                            _ = isServed.get()
                        }
                    }
                    log.note("]")
                })
                try channel.pipeline.syncOperations.addHandlers([Opener(), running])
            })
        try sender.writeAndFlush(envelope("a", to: receiver.get())).wait()
        log.wait(for: "]", times: 3)
        #expect(log.text == "[a ] [b ] [c ]")
        sending.end()
        loop.end()
    }

    @Test func `a socket that was shut down elsewhere closes its channel, with the error`() throws {
        let loop = try LoopThread()
        let log = Log()
        var ends: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        let other = dup(ends[0])
        let channel = try bootstrap(loop) { channel in
            try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
        }.withBoundSocket(OwnedDescriptor(ends[0])).wait()
        #expect(shutdown(other, CInt(SHUT_RDWR)) == 0)
        log.wait(for: "removed")
        #expect(log.text.hasSuffix("error:errno-\(ESHUTDOWN) inactive:false unregistered removed"))
        #expect(!channel.isActive)
        close(other)
        close(ends[1])
        loop.end()
    }

    @Test func `a group of multicast is joined and left`() throws {
        let loop = try LoopThread()
        let log = Log()
        var options = DatagramSocket.Options()
        options.multicastInterface = "lo"
        options.multicastHopLimit = 0
        let receiver = try bootstrap(loop) { channel in
            try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
        }.bind(host: "0.0.0.0", port: 0).wait()
        let sender = try bootstrap(loop, options: options).bind(host: "0.0.0.0", port: 0).wait()
        let group = try NIOCore.SocketAddress(ipAddress: "239.255.7.7", port: receiver.localAddress!.port!)
        let device = try #require(try System.enumerateDevices().first { $0.name == "lo" })
        let member = try #require(receiver as? any MulticastChannel)
        try member.joinGroup(group, device: device).wait()
        let message = AddressedEnvelope(remoteAddress: group, data: ByteBuffer(string: "to all"))
        try sender.writeAndFlush(message).wait()
        log.wait(for: "read:to all")
        try member.leaveGroup(group, device: device).wait()
        #expect(result(member.leaveGroup(group, device: device)) == "errno-\(EADDRNOTAVAIL)")
        let wrong = try NIOCore.SocketAddress(ipAddress: "127.0.0.1", port: 1)
        #expect(result(member.joinGroup(wrong, device: device)) == "errno-\(EINVAL)")
        loop.end()
    }

    @Test func `a socket that is bound already becomes a channel`() throws {
        let loop = try LoopThread()
        let log = Log()
        var ends: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        let channel = try bootstrap(loop) { channel in
            try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
        }.withBoundSocket(OwnedDescriptor(ends[0])).wait()
        #expect(write(ends[1], "abc", 3) == 3)
        log.wait(for: "read:abc")
        close(ends[1])
        try channel.close().wait()
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(
            result(bootstrap(loop).withBoundSocket(OwnedDescriptor(ends[0]))) == "errno-\(EPROTOTYPE)")
        close(ends[1])
        loop.end()
    }

    @Test func `when the run loop ends, the channel is closed, and what waits fails`() throws {
        let loop = try LoopThread()
        let log = Log()
        let channel = try bound(loop) { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
        let server = try LoopThread()
        let peer = try bound(server)
        try channel.eventLoop.submit { log.note("write", channel.write(envelope("x", to: peer))) }.wait()
        loop.end()
        #expect(
            log.text.contains("close:all write:") && log.text.hasSuffix("inactive:false unregistered removed")
        )
        server.end()
    }

    @Test func `tasks exchange datagrams`() async throws {
        let loop = try LoopThread()
        typealias Datagrams = NIOAsyncChannel<AddressedEnvelope<ByteBuffer>, AddressedEnvelope<ByteBuffer>>
        let make: @Sendable (any Channel) -> EventLoopFuture<Datagrams> = { channel in
            channel.eventLoop.makeCompletedFuture { try Datagrams(wrappingChannelSynchronously: channel) }
        }
        let bootstrap = RunLoopDatagramBootstrap(group: loop.eventLoop)
        let server = try await bootstrap.bind(host: "127.0.0.1", port: 0, channelInitializer: make)
        let port = try #require(server.channel.localAddress?.port)
        let client = try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: make)
        let address = try #require(server.channel.localAddress)
        try await server.executeThenClose { datagrams, answers in
            try await client.executeThenClose { inbound, outbound in
                try await outbound.write(
                    AddressedEnvelope(remoteAddress: address, data: ByteBuffer(string: "hello")))
                for try await datagram in datagrams {
                    try await answers.write(datagram)
                    break
                }
                for try await datagram in inbound {
                    #expect(String(buffer: datagram.data) == "hello")
                    break
                }
            }
        }
        try await loop.eventLoop.shutdownGracefully()
        loop.thread.stop()
        await loop.thread.join()
    }

    @Test func `wrong hosts and groups are errors`() throws {
        let loop = try LoopThread()
        for host in ["localhost", "", "300.1.1.1"] {
            #expect(result(bootstrap(loop).bind(host: host, port: 0)) != "ok")
            #expect(result(bootstrap(loop).connect(host: host, port: 1)) != "ok")
        }
        let limit = String(repeating: "x", count: 300)
        #expect(result(bootstrap(loop).bind(unixDomainSocketPath: limit)) != "ok")
        #expect(result(bootstrap(loop).connect(unixDomainSocketPath: "/no/such/socket")) == "errno-\(ENOENT)")
        loop.end()
    }
}

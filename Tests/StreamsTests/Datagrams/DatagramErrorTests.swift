import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Errors of datagrams are told, do not make the loop spin, and cost no other datagram.
@Suite struct DatagramErrorTests {
    /// Expects that passes of an idle loop make no call for a socket.
    private func expectRest(_ loop: RunLoop) {
        loop.settle()
        let calls = [Faults.Call.recvmmsg, .recvmsg, .sendmmsg].map { Faults.calls($0) }
        for _ in 0..<20 { loop.pass() }
        #expect([Faults.Call.recvmmsg, .recvmsg, .sendmmsg].map { Faults.calls($0) } == calls)
        // The loop sleeps, too: the kernel reports nothing.
        #expect(
            loop.run(in: .default, until: .now + .milliseconds(1), returnAfterSourceHandled: true)
                == .timedOut)
    }

    // Guarantees: An error of the network costs no other datagram, and does not make the loop spin.
    @Test(arguments: ["127.0.0.1", "::1"])
    func `that no socket has the port is told with the address, and the next datagrams arrive`(host: String)
        throws
    {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let gone = try DatagramSocket(.udp(host: host, port: 0))
            let dead = gone.localAddress
            gone.close()
            let receiver = try stage.socket(.udp(host: host, port: 0))
            for isConnected in [false, true] {
                let sender =
                    isConnected
                    ? try DatagramSocket(connectedTo: dead) : try DatagramSocket(.udp(host: host, port: 0))
                stage.watch(sender, "sender ")
                try loop.add(sender, forMode: .default)
                sender.send("lost", to: isConnected ? nil : dead)
                expectRest(loop)
                #expect(stage.take() == ["sender undelivered \(ECONNREFUSED) to \(dead)"])
                if !isConnected {
                    // The kernel reports an error to the next call, whatever datagram that is for.
                    for number in 0..<50 {
                        sender.send("lost", to: dead)
                        sender.send("\(number)", to: receiver.localAddress)
                    }
                    expectRest(loop)
                    let all = stage.take()
                    #expect(all.filter { !$0.hasPrefix("sender") } == (0..<50).map { "\($0)" })
                }
                sender.close()
                loop.pass()
                #expect(stage.take().last == "sender end: closed on this side")
            }
            receiver.close()
        }
    }

    @Test func `an error that the kernel reports to the call for the next datagram does not cost that one`()
        throws
    {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            // At this limit, each datagram goes to the kernel alone, before the loop has seen an error.
            var options = DatagramSocket.Options()
            options.unsentLimit = 1
            let dead = try deadAddress()
            let receiver = try stage.socket()
            let sender = try stage.socket(.udp(host: "127.0.0.1", port: 0), "sender ", options: options)
            for number in 0..<20 {
                #expect(sender.send("lost", to: dead))
                #expect(sender.send("\(number)", to: receiver.localAddress))
            }
            expectRest(loop)
            let all = stage.take()
            #expect(all.filter { !$0.hasPrefix("sender") } == (0..<20).map { "\($0)" })
            #expect(
                all.filter { $0.hasPrefix("sender") }
                    == Array(repeating: "sender undelivered \(ECONNREFUSED) to \(dead)", count: 20))
            receiver.close()
            sender.close()
        }
    }

    // Guarantees: An error of the network costs no other datagram, and does not make the loop spin.
    @Test(arguments: [0, 1, 2])
    func `errors without a handler, in a pause or in a handler's run do not make the loop spin`(kind: Int)
        throws
    {
        try onLoopThread { loop in
            let dead = try deadAddress()
            loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
            let sender = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            var hasRun = false
            if kind != 0 { sender.onReceive { _, _, _ in } }
            if kind == 1 { sender.isReadingPaused = true }
            if kind == 2 {
                sender.onReceive { sender, _, _ in
                    sender.send("x", to: dead)
                    expectRest(loop)
                    hasRun = true
                }
            }
            try loop.add(sender, forMode: .default)
            if kind == 2 {
                sender.send("x", to: sender.localAddress)
                loop.run(until: "the handler has run the loop") { hasRun }
            } else {
                sender.send("x", to: dead)
            }
            expectRest(loop)
            #expect(sender.statistics.undelivered == 1)
            sender.close()
        }
    }

    // Guarantees: A datagram that the kernel refuses is told, and the datagrams around it are sent.
    @Test func `a datagram that the kernel refuses is told, and those around it arrive`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try stage.socket()
            let sender = try stage.socket(.udp(host: "127.0.0.1", port: 0), "sender ")
            let ipv6 = try #require(SocketAddress(host: "::1", port: 9))
            let unix = try #require(SocketAddress(path: "/no/such/socket"))
            sender.send("one", to: receiver.localAddress)
            sender.send([UInt8](repeating: 0, count: 65_508), to: receiver.localAddress)
            sender.send("two", to: receiver.localAddress)
            sender.send("x", to: ipv6)
            sender.send("x", to: unix)
            sender.send("three", to: receiver.localAddress)
            sender.send("x", to: SocketAddress(host: "255.255.255.255", port: 9))
            expectRest(loop)
            let all = stage.take()
            #expect(all.filter { !$0.hasPrefix("sender") } == ["one", "two", "three"])
            #expect(
                all.filter { $0.hasPrefix("sender") } == [
                    "sender undelivered \(EMSGSIZE) to \(receiver.localAddress)",
                    "sender undelivered \(EAFNOSUPPORT) to \(ipv6)",
                    "sender undelivered \(EAFNOSUPPORT) to \(unix)",
                    "sender undelivered \(EACCES) to 255.255.255.255:9",
                ])
            #expect(sender.statistics.undelivered == 4 && sender.statistics.sent == 3)
            receiver.close()
            sender.close()
        }
    }

    @Test func `the receiver of a Unix socket that has ended is an error, and the others are reached`() throws
    {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let directory = try ScratchDirectory()
            let gone = try DatagramSocket(.abstract(name: "\(directory.path)/gone"))
            let reader = try stage.socket(.abstract(name: "\(directory.path)/reader"))
            let sender = try stage.socket(.abstract(name: "\(directory.path)/sender"), "sender ")
            let connected = try stage.socket(connectedTo: gone, "connected ")
            gone.close()
            sender.send("x", to: gone.localAddress)
            sender.send("y", to: reader.localAddress)
            connected.send("z")
            expectRest(loop)
            let all = stage.take()
            #expect(
                all.contains("y")
                    && all.contains("sender undelivered \(ECONNREFUSED) to \(gone.localAddress)"))
            #expect(all.contains { $0.hasPrefix("connected undelivered") })
            for socket in [reader, sender, connected] { socket.close() }
        }
    }

    @Test func `at most 64 errors wait for the handler, and all are counted`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let sender = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            stage.watch(sender, "")
            let unix = try #require(SocketAddress(path: "/no/such/socket"))
            for _ in 0..<65 { sender.send("x", to: unix) }
            try loop.add(sender, forMode: .default)
            loop.settle()
            #expect(stage.take().count == 64)
            #expect(sender.statistics.undelivered == 65)
            sender.close()
        }
    }

    @Test func `interrupted calls are repeated`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try stage.socket()
            receiver.send("x", to: receiver.localAddress)
            interrupted(.sendmmsg) { interrupted(.recvmmsg) { loop.settle() } }
            #expect(stage.take() == ["x"])
            receiver.send("x", to: try deadAddress())
            interrupted(.recvmsg) { loop.settle() }
            #expect(stage.take().count == 1)
            receiver.close()
        }
    }

    @Test(arguments: [EPERM, ENOSYS, ENOMEM, EINVAL, EFAULT])
    func `a socket whose calls are refused ends with the reason`(code: CInt) throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try stage.socket()
            receiver.send("x", to: receiver.localAddress)
            Faults.refuse(.recvmmsg, code)
            loop.settle()
            loop.pass()
            #expect(stage.take() == ["end: \(SystemError(call: "recvmmsg", code: code))"])
            #expect(!receiver.isOpen)
        }
    }

    @Test func `a socket whose every call reports an error of the network ends`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try stage.socket()
            receiver.send("x", to: receiver.localAddress)
            Faults.refuse(.recvmmsg, ECONNREFUSED, times: 1_000)
            loop.run(until: "it ends") { !receiver.isOpen }
            loop.pass()
            Faults.refuse(.recvmmsg, 0, times: 0)
            let all = stage.take()
            #expect(all.last == "end: \(SystemError(call: "recvmmsg", code: ECONNREFUSED))")
            #expect(all.count == 65)
        }
    }

    @Test func `a socket that the kernel does not watch is as before, and can be added again`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            stage.watch(receiver, "")
            #expect(throws: SystemError(call: "epoll_ctl", code: ENOSPC)) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(receiver, forMode: .default) }
            }
            #expect(loop.run(in: .default, until: .distantPast) == .finished, "nothing keeps the mode alive")
            try loop.add(receiver, forMode: .default)
            receiver.send("x", to: receiver.localAddress)
            #expect(stage.take(1) == ["x"])
            receiver.close()
        }
    }
}

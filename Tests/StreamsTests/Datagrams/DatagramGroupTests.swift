import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Sockets share a port, join groups, and share a socket with others.
@Suite struct DatagramGroupTests {
    @Test func `several sockets share a port if each says so`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            var options = DatagramSocket.Options()
            options.reusesPort = true
            let first = try stage.socket(options: options)
            let port = try #require(first.localAddress.port)
            let second = try stage.socket(.udp(host: "127.0.0.1", port: port), options: options)
            #expect(throws: SystemError(call: "bind", code: EADDRINUSE)) {
                try DatagramSocket(.udp(host: "127.0.0.1", port: port))
            }
            for number in 0..<100 {
                let sender = try stage.socket(connectedTo: first)
                sender.send("\(number)")
                loop.settle()
                sender.close()
            }
            loop.settle()
            #expect(first.statistics.received + second.statistics.received == 100)
            #expect(first.statistics.received > 0 && second.statistics.received > 0)
            first.close()
            second.close()
        }
    }

    @Test(arguments: ["239.255.7.9", "ff02::1:7"])
    func `a member of a multicast group gets its datagrams, until it leaves`(group: String) throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            var options = DatagramSocket.Options()
            options.multicastInterface = "lo"
            options.multicastHopLimit = 0
            options.reusesPort = true
            let receiver = try stage.socket(.udp(port: 0), options: options)
            let port = try #require(receiver.localAddress.port)
            let address = try #require(SocketAddress(host: "239.255.7.9", port: port))
            let sender = try stage.socket(.udp(port: 0), "sender ", options: options)
            try receiver.joinGroup(group, interface: "lo")
            #expect(throws: SystemError(call: "setsockopt", code: EADDRINUSE)) {
                try receiver.joinGroup(group, interface: "lo")
            }
            // The loopback interface has no route for multicasts of IPv6.
            let isIPv4 = !group.contains(":")
            if isIPv4 {
                sender.send("one", to: address)
                #expect(stage.take(1) == ["one"])
            }
            try receiver.leaveGroup(group, interface: "lo")
            #expect(throws: SystemError(call: "setsockopt", code: EADDRNOTAVAIL)) {
                try receiver.leaveGroup(group, interface: "lo")
            }
            if isIPv4 {
                sender.send("two", to: address)
                loop.settle()
                #expect(stage.take() == [])
            }
            #expect(throws: SystemError(call: "if_nametoindex", code: ENODEV)) {
                try receiver.joinGroup(group, interface: "no such")
            }
            #expect(throws: SystemError(call: "setsockopt", code: EINVAL)) {
                try receiver.joinGroup("127.0.0.1")
            }
            receiver.close()
            sender.close()
            #expect(throws: SystemError(call: "setsockopt", code: EBADF)) { try receiver.joinGroup(group) }
        }
    }

    @Test func `a socket that was shut down elsewhere ends, after what has arrived`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            var ends: [CInt] = [0, 0]
            let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
            #expect(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
            let copy = dup(ends[0])
            let socket = try DatagramSocket(OwnedDescriptor(ends[0]))
            #expect(socket.peerAddress != nil)
            stage.watch(socket, "")
            try loop.add(socket, forMode: .default)
            for _ in 0..<5 { #expect(unsafe Glibc.send(ends[1], "abc", 3, 0) == 3) }
            shutdown(copy, CInt(SHUT_RD))
            let error = SystemError(call: "recvmmsg", code: ESHUTDOWN)
            #expect(stage.take(6) == Array(repeating: "abc", count: 5) + ["end: \(error)"])
            close(copy)
            close(ends[1])
        }
    }
}

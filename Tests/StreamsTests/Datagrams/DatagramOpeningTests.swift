import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Opening a socket fails with a clear error, and leaves nothing open.
@Suite struct DatagramOpeningTests {
    private func code(_ address: DatagramSocket.Address, _ options: DatagramSocket.Options = .init()) -> CInt
    {
        do {
            _ = try DatagramSocket(address, options: options)
            return 0
        } catch { return error.code }
    }

    @Test func `an address that cannot be had is an error that names it`() throws {
        let directory = try ScratchDirectory()
        let long = String(repeating: "x", count: 108)
        #expect(code(.udp(host: "localhost", port: 0)) == EADDRNOTAVAIL)
        #expect(code(.udp(host: "192.0.2.1", port: 0)) == EADDRNOTAVAIL)
        #expect(code(.unix(path: "")) == EINVAL)
        #expect(code(.unix(path: long)) == ENAMETOOLONG)
        #expect(code(.abstract(name: "")) == EINVAL)
        #expect(code(.abstract(name: long)) == ENAMETOOLONG)
        #expect(
            code(
                .abstract(
                    name: "\(directory.path)" + String(repeating: "x", count: 107 - directory.path.utf8.count)
                )) == 0)
        #expect(code(.unix(path: "\(directory.path)/no/socket")) == ENOENT)
        var options = DatagramSocket.Options()
        options.multicastInterface = "no such"
        #expect(code(.udp(port: 0), options) == ENODEV)
        do {
            _ = try DatagramSocket(.udp(host: "192.0.2.1", port: 53))
            Issue.record("the address is another machine's")
        } catch {
            #expect(
                "\(error)".hasPrefix(
                    "datagram socket at \"192.0.2.1:53\" made at StreamsTests/DatagramOpeningTests.swift:"))
            #expect("\(error)".hasSuffix("bind: Cannot assign requested address (99)"))
        }
    }

    @Test func `a socket receives at an address that another socket had`() throws {
        let directory = try ScratchDirectory()
        for place in [
            DatagramSocket.Address.udp(host: "127.0.0.1", port: 0), .unix(path: "\(directory.path)/again"),
            .abstract(name: "\(directory.path)/again"),
        ] {
            let earlier = try DatagramSocket(place)
            let address = earlier.localAddress
            earlier.close()
            let socket = try DatagramSocket(.address(address))
            #expect(socket.localAddress == address)
            socket.close()
        }
    }

    @Test func `a peer that does not exist is an error`() throws {
        let directory = try ScratchDirectory()
        let missing = try #require(SocketAddress(path: "\(directory.path)/socket"))
        #expect(throws: SystemError(call: "connect", code: ENOENT)) {
            try DatagramSocket(connectedTo: missing)
        }
        let name = try #require(SocketAddress(abstractName: "\(directory.path)/name"))
        #expect(throws: SystemError(call: "connect", code: ECONNREFUSED)) {
            try DatagramSocket(connectedTo: name)
        }
        let listener = try Listener(.unix(path: "\(directory.path)/stream"))
        #expect(throws: SystemError(call: "connect", code: EPROTOTYPE)) {
            try DatagramSocket(connectedTo: listener.localAddress)
        }
    }

    @Test func `a connected socket receives at the address that it was given`() throws {
        let server = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
        let all = try DatagramSocket(connectedTo: server.localAddress, from: .udp(port: 0))
        #expect(all.localAddress.host == "127.0.0.1")
        let directory = try ScratchDirectory()
        let local = try DatagramSocket(.unix(path: "\(directory.path)/server"))
        let client = try DatagramSocket(
            connectedTo: local.localAddress, from: .unix(path: "\(directory.path)/client"))
        #expect(client.localAddress.path == "\(directory.path)/client")
        let unnamed = try DatagramSocket(connectedTo: local.localAddress)
        #expect(unnamed.localAddress.abstractName != nil, "the kernel has chosen a name")
    }

    @Test func `only a socket for datagrams is taken over`() throws {
        let stream = try Loopback.pair()
        #expect(throws: SystemError(call: "getsockopt", code: EPROTOTYPE)) {
            try DatagramSocket(OwnedDescriptor(stream.0))
        }
        #expect(fcntl(stream.0, F_GETFD) == -1, "it is closed")
        close(stream.1)
    }

    @Test
    func
        `the file of a socket that is gone is replaced, that of a living one is not, and a closed one removes it`()
        throws
    {
        let directory = try ScratchDirectory()
        let path = "\(directory.path)/socket"
        let first = try DatagramSocket(.unix(path: path))
        #expect(code(.unix(path: path)) == EADDRINUSE)
        #expect(unsafe access(path, F_OK) == 0)
        // A link keeps the file of a socket that has ended.
        #expect(unsafe link(path, "\(path).kept") == 0)
        first.close()
        #expect(unsafe access(path, F_OK) == -1)
        #expect(unsafe rename("\(path).kept", path) == 0)
        let second = try DatagramSocket(.unix(path: path))
        #expect(second.localAddress.path == path)
        second.close()
        let listener = try Listener(.unix(path: path))
        #expect(code(.unix(path: path)) == EADDRINUSE)
        listener.invalidate()
    }

    @Test func `out of descriptors, opening and adding fail and leave nothing open`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let server = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
                let directory = try ScratchDirectory()
                let peer = server.localAddress
                loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
                let made: [() throws -> DatagramSocket] = [
                    { try DatagramSocket(.udp(host: "127.0.0.1", port: 0)) },
                    { try DatagramSocket(connectedTo: peer) },
                    { try DatagramSocket(.unix(path: "\(directory.path)/socket")) },
                ]
                func use(_ make: () throws -> DatagramSocket) throws {
                    let socket = try make()
                    try loop.add(socket, forMode: .default)
                    socket.close()
                }
                // The loop and the runtime open their own descriptors first.
                try use(made[0])
                loop.settle()
                let bound = try boundOfDescriptors()
                fillDescriptors(below: bound)
                for make in made {
                    var free = 0
                    while true {
                        let code = refusal(bound, free: free) { try use(make) }
                        loop.settle()
                        #expect(openDescriptors(from: bound) == 0)
                        guard let code else { break }
                        #expect(code == EMFILE)
                        free += 1
                        try #require(free < 10)
                    }
                    #expect(free > 0)
                }
                server.close()
            }
        }
    }

    @Test func `out of descriptors, an open socket goes on, and only a further mode is refused`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let stage = DatagramStage(loop)
                let receiver = try stage.socket()
                let sender = try stage.socket(connectedTo: receiver)
                loop.settle()
                let bound = try boundOfDescriptors()
                let mode = RunLoop.Mode("other")
                let code = refusal(bound, free: 0) {
                    for number in 0..<40 { sender.send("\(number)") }
                    try #require(stage.take(40) == (0..<40).map { "\($0)" })
                    try loop.add(receiver, forMode: mode)
                }
                try #require(code == EMFILE)
                sender.send("one")
                try #require(stage.take(1) == ["one"])
                try loop.add(receiver, forMode: mode)
                sender.send("two")
                loop.pass()
                loop.settle(in: mode)
                try #require(stage.take() == ["two"])
                sender.close()
                receiver.close()
                loop.settle()
                try #require(openDescriptors(from: bound) == 0)
            }
        }
    }

    @Test
    func
        `a socket without a receiver, on a second loop, or with an impossible limit ends the program with advice`()
        async
    {
        let first = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let socket = try DatagramSocket(.udp(port: 0))
            socket.send("x")
        }
        #expect(first?.message.contains("is not connected; pass the address of the receiver") == true)
        let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let socket = try DatagramSocket(.udp(port: 0))
            let threads = try (0..<2).map { try RunLoopThread(name: "loop \($0)") }
            for thread in threads {
                try await thread.runLoop.performAndWait {
                    try unsafe RunLoop.current.add(socket, forMode: .default)
                }
            }
        }
        #expect(second?.message.contains("a socket stays on its first one") == true)
        let third = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var options = DatagramSocket.Options()
            options.datagramByteLimit = 0
            _ = try DatagramSocket(.udp(port: 0), options: options)
        }
        #expect(third?.message.contains("choose 1 to 16777216 bytes") == true)
    }
}

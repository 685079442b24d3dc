import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// What a socket stores is limited, and a receiver that does not read costs nobody anything.
@Suite struct DatagramLimitTests {
    // Guarantees: At a limit, `send` returns false, and the handler of room is called when half of the limit is free.
    @Test func `a datagram beyond the limit of their number is refused, and room is told at half of it`()
        throws
    {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            var options = DatagramSocket.Options()
            options.unsentLimit = 10
            let receiver = try stage.socket()
            let sender = try stage.socket(connectedTo: receiver, options: options)
            loop.settle()
            Faults.refuse(.sendmmsg, EAGAIN, times: 1)
            for number in 0..<10 { #expect(sender.send("\(number)")) }
            #expect(!sender.send("10"))
            #expect(!sender.send("11"))
            #expect(sender.unsentCount == 10 && sender.statistics.refused == 2)
            loop.settle()
            #expect(stage.take().sorted() == (0..<10).map { "\($0)" } + ["room"])
            #expect(sender.send("again"))
            #expect(stage.take(1) == ["again"], "room is told once")
            sender.close()
            #expect(!sender.send("late") && sender.statistics.refused == 2)
            receiver.close()
        }
    }

    @Test func `a datagram beyond the limit of bytes is refused, but a single one is not`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            var options = DatagramSocket.Options()
            options.outputLimit = 10
            let receiver = try stage.socket()
            let sender = try stage.socket(connectedTo: receiver, options: options)
            Faults.refuse(.sendmmsg, EAGAIN, times: 1)
            #expect(sender.send("01234"))
            #expect(sender.send("56789"))
            #expect(!sender.send("x"))
            #expect(stage.take(3).sorted() == ["01234", "56789", "room"])
            #expect(sender.send("0123456789abcdef"))
            #expect(stage.take(1) == ["0123456789abcdef"])
            receiver.close()
            sender.close()
        }
    }

    @Test func `a handler of room that sends until it is refused is called once for each turn`() throws {
        try onLoopThread { loop in
            var options = DatagramSocket.Options()
            options.unsentLimit = 4
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let sender = try DatagramSocket(connectedTo: receiver.localAddress, options: options)
            var calls = 0
            sender.onRoom { sender in
                calls += 1
                Faults.refuse(.sendmmsg, EAGAIN)
                while sender.send("x") {}
            }
            try loop.add(sender, forMode: .default)
            Faults.refuse(.sendmmsg, EAGAIN)
            while sender.send("x") {}
            for _ in 0..<10 {
                let before = calls
                loop.pass()
                #expect(calls - before <= 2)
            }
            #expect(calls > 2)
            Faults.refuse(.sendmmsg, 0, times: 0)
            sender.close()
            receiver.close()
        }
    }

    // Guarantees: A connected Unix socket loses no datagram while its peer does not read.
    @Test func `a connected peer that never reads makes the socket wait, and loses nothing when it reads`()
        throws
    {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let directory = try ScratchDirectory()
            var options = DatagramSocket.Options()
            options.unsentLimit = 100
            let reader = try DatagramSocket(.unix(path: "\(directory.path)/reader"))
            let sender = try DatagramSocket(connectedTo: reader.localAddress, options: options)
            stage.watch(sender, "sender ")
            try loop.add(sender, forMode: .default)
            var sent = 0
            while sender.send("\(sent)") {
                sent += 1
                loop.pass()
                try #require(sent < 1_000)
            }
            #expect(sender.unsentCount == 100)
            // A writer that waits is not served.
            let calls = Faults.calls(.sendmmsg)
            for _ in 0..<20 { loop.pass() }
            #expect(Faults.calls(.sendmmsg) == calls)
            #expect(stage.take() == [])
            stage.watch(reader, "")
            try loop.add(reader, forMode: .default)
            let all = stage.take(sent + 1)
            #expect(all.filter { $0 != "sender room" } == (0..<sent).map { "\($0)" })
            #expect(all.count == sent + 1)
            sender.close()
            reader.close()
        }
    }

    @Test func `one of several peers that never reads costs only the datagrams to it`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let directory = try ScratchDirectory()
            let silent = try DatagramSocket(.unix(path: "\(directory.path)/silent"))
            let reader = try stage.socket(.abstract(name: "\(directory.path)/reader"))
            let sender = try stage.socket(.unix(path: "\(directory.path)/sender"), "sender ")
            for number in 0..<500 {
                #expect(sender.send("x", to: silent.localAddress))
                #expect(sender.send("\(number)", to: reader.localAddress))
                loop.settle()
            }
            let undelivered = "sender undelivered \(EAGAIN) to \(silent.localAddress)"
            let all = stage.take()
            #expect(all.filter { $0 != undelivered } == (0..<500).map { "\($0)" })
            #expect(all.count > 900 && sender.statistics.undelivered == all.count - 500)
            #expect(sender.unsentCount == 0)
            for socket in [silent, reader, sender] { socket.close() }
        }
    }

    @Test func `what the kernel discards is counted`() throws {
        try onLoopThread { loop in
            var options = DatagramSocket.Options()
            options.receiveBufferSize = 1
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0), options: options)
            let sender = try DatagramSocket(connectedTo: receiver.localAddress)
            try loop.add(sender, forMode: .default)
            for _ in 0..<1_000 { sender.send("x") }
            loop.settle()
            var received = 0
            receiver.onReceive { _, _, _ in received += 1 }
            try loop.add(receiver, forMode: .default)
            loop.settle()
            #expect(received > 0 && receiver.droppedCount > 0)
            #expect(received + receiver.droppedCount == 1_000)
            receiver.close()
            #expect(receiver.droppedCount == 0)
            sender.close()
        }
    }
}

import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// A flood of datagrams shares the budget of the pass with all other inputs.
@Suite struct DatagramShareTests {
    /// The steps of one pass: the budget, and the step under way.
    private static var mostSteps: Int { 129 }

    /// Fills the buffers of sockets.
    private func flooded(
        _ loop: RunLoop, _ count: Int, _ onReceive: @escaping (Int) -> Void
    ) throws -> [DatagramSocket] {
        let sender = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
        try loop.add(sender, forMode: .default)
        let sockets = try (0..<count).map { number in
            let socket = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            socket.onReceive { _, _, _ in onReceive(number) }
            return socket
        }
        for socket in sockets {
            for _ in 0..<200 { sender.send("x", to: socket.localAddress) }
            loop.pass()
        }
        sender.close()
        for socket in sockets { try loop.add(socket, forMode: .default) }
        return sockets
    }

    @Test func `a pass serves a flooded socket no longer than its budget`() throws {
        try onLoopThread { loop in
            var count = 0
            let sockets = try flooded(loop, 1) { _ in count += 1 }
            var passes = 0
            while count < 200 {
                let before = count
                loop.pass()
                #expect(count - before <= DatagramShareTests.mostSteps)
                passes += 1
                try #require(passes < 1_000)
            }
            #expect(passes > 1)
            sockets[0].close()
        }
    }

    @Test func `one socket with work is served soon beside a hundred flooded ones`() throws {
        try onLoopThread { loop in
            var (count, isServed) = (0, false)
            let sockets = try flooded(loop, 100) { _ in count += 1 }
            loop.pass()
            let honest = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            honest.onReceive { _, _, _ in isServed = true }
            try loop.add(honest, forMode: .default)
            honest.send("x", to: honest.localAddress)
            let before = count
            loop.run(until: "the honest one is served") { isServed }
            #expect(
                count - before <= 100 * 2 * 32 + DatagramShareTests.mostSteps, "two turns of each at most")
            for socket in sockets + [honest] { socket.close() }
        }
    }

    @Test func `a flood of errors shares the budget, too`() throws {
        try onLoopThread { loop in
            let dead = try deadAddress()
            let sender = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            var errors = 0
            sender.onUndelivered { _, _, _ in errors += 1 }
            // Each call that is refused says how many have come before.
            for _ in 0..<200 { sender.send("x", to: dead) }
            try loop.add(sender, forMode: .default)
            var passes = 0
            while sender.unsentCount > 0 || passes < 20 {
                let before = errors
                loop.pass()
                #expect(errors - before <= DatagramShareTests.mostSteps)
                passes += 1
                try #require(passes < 1_000)
            }
            loop.settle()
            #expect(errors > 0 && errors == sender.statistics.undelivered)
            sender.close()
        }
    }

    // Guarantees: A connected Unix socket loses no datagram while its peer does not read.
    @Test
    func `of 100,000 datagrams to a socket that waits for its receiver, each arrives once and in order`()
        throws
    {
        let total = 100_000
        let directory = try ScratchDirectory()
        let receiver = try RunLoopThread(name: "receiver")
        let (received, misplaced) = (Shared(), Shared())
        let address = try receiver.runLoop.performAndWait {
            let socket = try DatagramSocket(.unix(path: "\(directory.path)/socket"))
            socket.onReceive { _, span, _ in
                let number = received.increment()
                if text(span) != "\(number)" { misplaced.increment() }
            }
            try RunLoop.current.add(socket, forMode: .default)
            return socket.localAddress
        }
        try onLoopThread { loop in
            let sender = try DatagramSocket(connectedTo: address)
            var next = 0
            var stuck = false
            func sendMore() {
                while next < total && sender.send("\(next)") { next += 1 }
                stuck = next < total
            }
            sender.onRoom { _ in sendMore() }
            try loop.add(sender, forMode: .default)
            sendMore()
            loop.run(until: "all are sent") { next == total && sender.unsentCount == 0 }
            #expect(!stuck && sender.statistics.sent == total && sender.statistics.undelivered == 0)
            sender.close()
        }
        waitUntil("all arrive") { received.count == total }
        #expect(misplaced.count == 0)
        receiver.stop()
        receiver.join()
    }
}

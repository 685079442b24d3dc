import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The cost of a delivery in numbers that are equal on every machine: writes to the kernel, and allocations.
@Suite struct DeliveryCountTests {
    // Guarantees: A loop is woken through the kernel at most once for each time it sleeps, however much is sent, and not at all
    // while it is awake.
    @Test func `any number of sends to a sleeping loop costs one write`() throws {
        try withReceiver { loop, received in
            let ports = try loop.performAndWait {
                let ports = (0..<3).map { _ in Port<Int>() }
                for port in ports {
                    RunLoop.current.add(port, forMode: .default) { _ in received.increment() }
                }
                return ports
            }
            let signals = Port<Void>()
            try loop.performAndWait { RunLoop.current.add(signals, forMode: .default) {} }
            waitUntilAsleep(loop)
            let before = loop.statistics.kernelWrites
            // The loop wakes up for the first of these blocks, which keeps it busy until all messages are sent.
            let started = Gate()
            let released = Gate()
            loop.perform {
                started.open()
                #expect(released.wait())
            }
            #expect(started.wait())
            for number in 0..<1_000 { for port in ports { try port.send(number) } }
            for _ in 0..<1_000 { try signals.send() }
            let block: @Sendable () -> Void = { received.increment() }
            loop.perform(contentsOf: repeatElement(block, count: 1_000))
            for _ in 0..<1_000 { loop.perform(block) }
            loop.wakeUp()
            released.open()
            waitUntil("everything is received") { received.count == 5_000 }
            #expect(loop.statistics.kernelWrites == before + 1)
        }
    }

    // Guarantees: A loop is woken through the kernel at most once for each time it sleeps, however much is sent, and not at all
    // while it is awake.
    @Test(arguments: [0, 1, 2, 3]) func `each way to wake a sleeping loop costs one write per sleep`(way: Int)
        throws
    {
        try withReceiver { loop, received in
            let port = Port<Int>()
            let signals = Port<Void>()
            let source = ManualSource { received.increment() }
            try loop.performAndWait {
                RunLoop.current.add(port, forMode: .default) { _ in received.increment() }
                RunLoop.current.add(signals, forMode: .default) { received.increment() }
                RunLoop.current.add(source, forMode: .default)
            }
            for round in 1...5 {
                waitUntilAsleep(loop)
                let before = loop.statistics
                switch way {
                case 0: try port.send(round)
                case 1: try signals.send()
                case 2: source.signal()
                default: loop.perform { received.increment() }
                }
                waitUntil("it is received") { received.count == round }
                waitUntilAsleep(loop)
                let after = loop.statistics
                #expect(after.kernelWrites == before.kernelWrites + 1)
                #expect(after.wakeUps == before.wakeUps + 1)
            }
        }
    }

    // Guarantees: A loop is woken through the kernel at most once for each time it sleeps, however much is sent, and not at all
    // while it is awake.
    @Test func `a loop that sends to itself writes nothing`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: .unlimited)
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            for number in 0..<1_000 {
                try port.send(number)
                loop.perform {}
                if number % 10 == 0 { loop.pass() }
            }
            while received < 1_000 { loop.pass() }
            #expect(loop.statistics.kernelWrites == 0)
            #expect(loop.statistics.kernelCalls == 0)
        }
    }

    // Guarantees: In steady state, sending and delivering a message of up to 48 bytes, a signal or a block that exists already
    // allocates nothing.
    @Test(.enabled(if: Allocations.areCounted))
    func `in steady state a message allocates nothing, inline or signal`()
        throws
    {
        struct Message: Sendable { var words: (Int, Int, Int, Int, Int, Int) = (1, 2, 3, 4, 5, 6) }
        try onLoopThread { loop in
            let port = Port<Message>()
            let signals = Port<Void>()
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            loop.add(signals, forMode: .default) { received += 1 }
            // A message and a signal in each pass, so that the allocations of the pass count for the message.
            func round() throws {
                try port.send(Message())
                try signals.send()
                loop.pass()
            }
            for _ in 0..<200 { try round() }
            let before = received
            let rounds = 1_000
            let allocations = try Allocations.count { for _ in 0..<rounds { try round() } }
            #expect(received - before == 2 * rounds)
            // Unoptimised code allocates memory for closures and loops.
            #expect(allocations == 0 || !isOptimized)
        }
    }

    @Test(.enabled(if: Allocations.areCounted)) func `many messages in one pass allocate no more than one`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            func allocations(of count: Int) throws -> Int {
                try Allocations.count {
                    for number in 0..<count { try port.send(number) }
                    let expected = received + count
                    while received < expected { loop.pass() }
                }
            }
            for _ in 0..<20 { _ = try allocations(of: 1_000) }
            // A thousand messages take eight passes, or more on a slow machine.
            let passes = loop.statistics.passes
            let many = try allocations(of: 1_000)
            let made = loop.statistics.passes - passes
            #expect(try many <= made * allocations(of: 1))
        }
    }

    // Guarantees: In steady state, sending and delivering a message of up to 48 bytes, a signal or a block that exists already
    // allocates nothing.
    @Test(.enabled(if: Allocations.areCounted))
    func `a sender allocates nothing for a message, a signal or a ready block`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let signals = Port<Void>()
            loop.add(signals, forMode: .default) {}
            let block: @Sendable () -> Void = {}
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            let sender = try RunLoopThread(name: "sender")
            for round in 0..<10 {
                let allocations = try sender.runLoop.performAndWait {
                    try Allocations.count {
                        for number in 0..<1_000 {
                            try port.send(number)
                            try signals.send()
                            loop.perform(block)
                        }
                    }
                }
                while received < (round + 1) * 1_000 || !loop.core("", "").blocks.isEmpty { loop.pass() }
                if round > 3 { #expect(allocations == 0) }
            }
            sender.stop()
            sender.join()
        }
    }

    // Guarantees: However long a queue is, the state counts as steady while the queue's length changes by no more than 4,000
    // messages of each sending thread.
    @Test(.enabled(if: Allocations.areCounted))
    func `a sender to a long queue of steady length allocates nothing`() throws {
        try onLoopThread { loop in
            let port = Port<(Int, Int, Int, Int)>(queueLimit: .unlimited)
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            let sender = try RunLoopThread(name: "sender")
            func allocations(sending count: Int) throws -> Int {
                try sender.runLoop.performAndWait {
                    try Allocations.count { for number in 0..<count { try port.send((number, 0, 0, 0)) } }
                }
            }
            // More messages at first, so that it does not matter if one round is ahead of another.
            _ = try allocations(sending: 24_000)
            for round in 0..<20 {
                while received < 4_000 + round * 1_000 { loop.pass() }
                #expect(try allocations(sending: 1_000) == 0)
            }
            sender.stop()
            sender.join()
        }
    }

    /// Calls a test with a loop that sleeps as soon as it has no work.
    private func withReceiver(_ body: (RunLoop, Shared) throws -> Void) throws {
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait { RunLoop.current.waitPolicy = .park }
        try body(thread.runLoop, Shared())
        thread.stop()
        thread.join()
    }
}

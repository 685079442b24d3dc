import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Threads make and release rights while the receiver serves the port, and each notice arrives once and in its place.
@Suite struct RightsStressTests {
    // Guarantees: The notice that no sender is left never overtakes messages that the senders have sent, and the handler is called
    // at most once for each time that no sender is left.
    @Test func `rights that four threads release at once give one notice`() throws {
        let port = Port<Int>(queueLimit: 8)
        let rounds = 1_000
        let senders = try (0..<4).map { try RunLoopThread(name: "sender \($0)") }
        defer {
            for sender in senders {
                sender.stop()
                sender.join()
            }
        }
        try onLoopThread { loop in
            var (round, received) = (0, 0)
            loop.add(port, forMode: .default) { _ in received += 1 }
            func begin() {
                // All rights are made before the first one is released, so each round has one time without rights.
                let rights = senders.map { _ in port.makeSendRight() }
                for (sender, right) in zip(senders, rights) {
                    // The right is released with the block.
                    sender.runLoop.perform { do { try right.send(1) } catch { Issue.record(error) } }
                }
            }
            port.onNoSenders { _ in
                round += 1
                if received != 4 * round || port.sendRightCount != 0 {
                    Issue.record("round \(round): \(received)")
                }
                if round == rounds { loop.stop() } else { begin() }
            }
            begin()
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            loop.settle()
            #expect(round == rounds)
        }
    }

    // Guarantees: The notice that no sender is left never overtakes messages that the senders have sent, and the handler is called
    // at most once for each time that no sender is left.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func `with any actions of threads and receiver, the notice arrives after everything that rights sent`(
        seed: UInt64
    )
        throws
    {
        let port = Port<Int>(queueLimit: 16)
        let perThread = 500
        let senders = try Threads(4) { thread in
            var random = SplitMix64(seed: seed * 4 + UInt64(thread))
            for _ in 0..<perThread {
                let right = port.makeSendRight()
                if Bool.random(using: &random) { try right.send(1) } else { _ = right.isValid }
            }
            // This message occupies no room for which the test would wait, and makes the very last right one that sends.
            try port.makeSendRight().send(0)
        }
        try onLoopThread { loop in
            var random = SplitMix64(seed: ~seed)
            var (received, ends, calls, isLast) = (0, 0, 0, false)
            let other = RunLoop.Mode("other")
            loop.add(Port<Int>(), forMode: .default) { _ in }
            loop.add(Port<Int>(), forMode: other) { _ in }
            func receive(_ number: Int) {
                received += number
                if number == 0 { ends += 1 }
                isLast = false
            }
            func told() {
                calls += 1
                // False again if a message arrives after the notice.
                isLast = true
            }
            let end = ContinuousClock.Instant.hang
            while (ends < 4 || port.sendRightCount > 0 || !isLast) && ContinuousClock.now < end {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: loop.remove(port, forMode: .default)
                case 1: loop.remove(port, forMode: other)
                case 2: loop.add(port, forMode: other, handler: receive)
                default:
                    loop.add(port, forMode: .default, handler: receive)
                    port.onNoSenders { _ in told() }
                }
                loop.pass()
                loop.pass(in: other)
            }
            #expect(ends == 4)
            #expect(isLast)
            #expect(port.sendRightCount == 0)
            #expect(calls <= 4 * (perThread + 1))
            let callsAtTheEnd = calls
            loop.settle()
            #expect(calls == callsAtTheEnd)
        }
        try senders.join()
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `signals and notices through one bell: neither is taken for the other, and none is lost`(
        seed: UInt64
    )
        throws
    {
        let port = Port<Void>()
        let rounds = 200
        let sender = try RunLoopThread(name: "sender")
        defer {
            sender.stop()
            sender.join()
        }
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            var (round, isSent, isHeard) = (0, false, false)
            func begin() {
                isSent = Bool.random(using: &random)
                isHeard = false
                let right = port.makeSendRight()
                sender.runLoop.perform { [isSent] in
                    do { if isSent { try right.send() } } catch { Issue.record(error) }
                }
            }
            loop.add(port, forMode: .default) { isHeard = true }
            port.onNoSenders { _ in
                if isSent != isHeard { Issue.record("round \(round): \(isSent) \(isHeard)") }
                round += 1
                if round == rounds { loop.stop() } else { begin() }
            }
            begin()
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(round == rounds)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a port that ends while it has rights calls its end handlers once, and leaves nothing behind`(
        seed: UInt64
    )
        throws
    {
        let alive = Shared()
        let ends = Shared()
        let port = Port<Counted>(queueLimit: 8)
        let halfway = Gate()
        let asked = Gate()
        let receiver = try Threads(1) { _ in
            let loop = RunLoop.current
            let captured = Counted(alive)
            loop.add(port, forMode: .default) { _ in }
            port.onNoSenders { _ in _ = captured }
            port.addInvalidationHandler { ends.increment() }
            asked.open()
            #expect(loop.run(in: .default, until: .hang) == .finished)
            while ends.count < 1 && ContinuousClock.now < .hang { loop.pass() }
            loop.settle()
        }
        #expect(asked.wait())
        let senders = try Threads(4) { thread in
            var random = SplitMix64(seed: seed * 4 + UInt64(thread))
            for number in 0..<200 {
                if thread == 0 && number == 100 { halfway.open() }
                let right = port.makeSendRight()
                if Bool.random(using: &random) {
                    do { try right.send(Counted(alive)) } catch let error as PortSendError<Counted> {
                        #expect(error.reason == .invalid)
                    }
                }
            }
        }
        #expect(halfway.wait())
        let enders = try Threads(2) { _ in port.invalidate() }
        try enders.join()
        try senders.join()
        try receiver.join()
        #expect(ends.count == 1)
        #expect(port.sendRightCount == 0)
        #expect(alive.count == 0)
    }
}

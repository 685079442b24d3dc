import TestSupport
import Testing

@testable import RunLoops

/// The line of senders at a full port, as a value.
@Suite struct WaitingSendersTests {
    /// A class around the line, so that expectations can mutate it.
    private final class Line {
        private var waiting = WaitingSenders()
        var count: Int { waiting.count }
        var first: WaitingSenders.Sender? { waiting.first }
        func append(_ sender: WaitingSenders.Sender) { waiting.append(sender) }
        func firstWasSent() -> WaitingSenders.Sender { waiting.firstWasSent() }
        func closeAll() -> WaitingSenders.List { waiting.closeAll() }
        func contains(_ sender: WaitingSenders.Sender) -> Bool { waiting.contains(sender) }
        func refuse(_ sender: WaitingSenders.Sender) -> Bool { waiting.refuse(sender) }
        func leave(_ sender: WaitingSenders.Sender) -> WaitingSenders.Outcome? { waiting.leave(sender) }
    }

    private func makeSender() -> WaitingSenders.Sender {
        let node = Node.make()
        defer { PortCore.discard(node) }
        return WaitingSenders.Sender(Mailbox.Chain(node)) { _ in }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `after any changes the line of senders equals an array`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let waiting = Line()
        var expected: [WaitingSenders.Sender] = []
        var takenOut: [(sender: WaitingSenders.Sender, outcome: WaitingSenders.Outcome)] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let sender = makeSender()
                #expect(!waiting.contains(sender))
                waiting.append(sender)
                expected.append(sender)
            case 4 where !expected.isEmpty:
                #expect(waiting.firstWasSent() === expected[0])
                takenOut.append((expected.removeFirst(), .sent))
            case 5 where !expected.isEmpty:
                let sender = expected.remove(at: .random(in: expected.indices, using: &random))
                #expect(waiting.leave(sender) == nil)
                #expect(!waiting.contains(sender))
                #expect(!waiting.refuse(sender))
            case 6 where !expected.isEmpty:
                let sender = expected.remove(at: .random(in: expected.indices, using: &random))
                #expect(waiting.refuse(sender))
                takenOut.append((sender, .refused))
            case 7 where Int.random(in: 0..<20, using: &random) == 0:
                var all = waiting.closeAll()
                for sender in expected {
                    let next = all.popFirst()
                    #expect(next === sender)
                    takenOut.append((sender, .closed))
                }
                #expect(all.count == 0)
                expected = []
            default: break
            }
            #expect(waiting.count == expected.count)
            #expect(waiting.first === expected.first)
            #expect(expected.allSatisfy { waiting.contains($0) })
        }
        for (sender, outcome) in takenOut {
            #expect(!waiting.refuse(sender))
            #expect(waiting.leave(sender) == outcome)
        }
        for sender in expected { #expect(waiting.leave(sender) == nil) }
        #expect(waiting.count == 0 && waiting.first == nil)
    }

    @Test(.enabled(if: Allocations.areCounted))
    func `a sender joins the line and leaves it without an allocation`() {
        var waiting = WaitingSenders()
        let senders = (0..<1_000).map { _ in makeSender() }
        let allocations = Allocations.count {
            for sender in senders { waiting.append(sender) }
            for sender in senders[600...] { _ = waiting.leave(sender) }
            for sender in senders[300..<600] { _ = waiting.refuse(sender) }
            for _ in 0..<200 { _ = waiting.firstWasSent() }
            var rest = waiting.closeAll()
            while rest.popFirst() != nil {}
        }
        // Unoptimised code allocates memory for accesses.
        #expect(allocations == 0 || !isOptimized)
    }

    @Test func `a sender that has left the line is not held by it`() {
        let waiting = Line()
        weak var left: WaitingSenders.Sender?
        let (first, last) = (makeSender(), makeSender())
        do {
            let middle = makeSender()
            left = middle
            for sender in [first, middle, last] { waiting.append(sender) }
            _ = waiting.leave(middle)
        }
        #expect(left == nil)
        #expect(waiting.firstWasSent() === first)
        #expect(waiting.firstWasSent() === last)
    }

    /// A receiver that counts its signals.
    private final class Told: SignalReceiver {
        let times = Shared()
        func becameReady() { times.increment() }
    }

    @Test func `each receiver that was armed between two pushes of one pump is signalled`() {
        let port = Port<Int>(queueLimit: 1)
        let receiver = ManualReceiver(port)
        let sent = Shared()
        let receivers = [Told(), Told(), Told()]
        var signals: [WeakSignal] = []
        var pump = PortQueue.Pump()
        for (number, told) in receivers.enumerated() {
            let signal = ReadyNode(to: told)
            signals.append(WeakSignal(signal))
            #expect(port.core.arm(with: signal))
            let node = Node.make()
            node.store(number)
            let sender = WaitingSenders.Sender(Mailbox.Chain(node)) { _ in sent.increment() }
            port.core.queue.waitingSenders.withLock { waiting in
                port.core.queue.append(sender, to: &waiting, &pump)
            }
            #expect(receiver.receiveAll() == [number])
        }
        pump.finish()
        #expect(sent.count == 3)
        #expect(receivers.map(\.times.count) == [1, 1, 1])
        #expect(signals.allSatisfy { $0.signal == nil })
    }

    private struct WeakSignal {
        weak var signal: ReadyNode?

        init(_ signal: ReadyNode) { self.signal = signal }
    }
}

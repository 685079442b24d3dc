import Synchronization
import TestSupport
import Testing

@testable import RunLoops

/// A word that records a ring, and on which the receiver sleeps.
@Suite struct DoorbellTests {
    @Test func `an armed bell that is rung several times gives its node once`() {
        let bell = Doorbell()
        let node = Node.make()
        defer { PortCore.discard(node) }
        let first = bell.ring()
        #expect(first == nil)
        bell.arm(with: node)
        let rings = (0..<100).map { _ in bell.ring() }
        #expect(rings.compactMap { $0 } == [node])
        #expect(rings.first == node)
        let isRung = bell.isNudgedOrRung
        #expect(isRung)
    }

    @Test func `arming fails for a rung bell, and succeeds for a quiet one`() {
        let bell = Doorbell()
        let node = Node.make()
        defer { PortCore.discard(node) }
        _ = bell.ring()
        let whileRung = bell.armUnlessRung(with: node)
        #expect(!whileRung)
        let quiet = Doorbell()
        let whileQuiet = quiet.armUnlessRung(with: node)
        #expect(whileQuiet)
        let isRung = quiet.isNudgedOrRung
        #expect(!isRung)
    }

    @Test func `disarming leaves a ring in place`() {
        let bell = Doorbell()
        let node = Node.make()
        defer { PortCore.discard(node) }
        let fromQuiet = bell.disarm()
        #expect(fromQuiet == nil)
        bell.arm(with: node)
        let fromArmed = bell.disarm()
        #expect(fromArmed == node)
        let quiet = bell.isNudgedOrRung
        #expect(!quiet)
        _ = bell.ring()
        let fromRung = bell.disarm()
        #expect(fromRung == nil)
        let rung = bell.isNudgedOrRung
        #expect(rung)
    }

    @Test func `the receiver that answers a ring sees the sender's earlier stores`() throws {
        // The second ring of each round coincides with the answer to the first. If it finds the bell still rung, it must write the
        // word again, so that the answer sees the stores before this ring.
        let box = Box()
        let written = Shared(0)
        let seen = Shared(0)
        let turns = Shared(0)
        let isOver = Shared(0)
        let receiver = try Threads(1) { _ in
            let node = Node.make()
            defer { PortCore.discard(node) }
            while isOver.value.load(ordering: .relaxed) == 0 {
                if box.bell.isNudgedOrRung {
                    box.bell.arm(with: node)
                    seen.value.store(written.value.load(ordering: .relaxed), ordering: .relaxed)
                }
                turns.value.add(1, ordering: .releasing)
            }
        }
        var lost = 0
        var number = 0
        let end = ContinuousClock.now + .milliseconds(200)
        while ContinuousClock.now < end {
            for _ in 0..<2 {
                number += 1
                for _ in 0..<number % 64 { _ = turns.value.load(ordering: .relaxed) }
                written.value.store(number, ordering: .relaxed)
                _ = box.bell.ring()
            }
            while box.bell.isNudgedOrRung {}
            // The receiver has begun to answer the last ring. After two further rounds of the receiver, all effects of the answer
            // are visible.
            let turn = turns.value.load(ordering: .acquiring)
            while turns.value.load(ordering: .acquiring) < turn + 2 {}
            if seen.value.load(ordering: .relaxed) != number { lost += 1 }
        }
        isOver.value.store(1, ordering: .relaxed)
        try receiver.join()
        #expect(lost == 0, "of \(number) rings")
    }
}

/// A class around a bell, so that threads can share it.
private final class Box: Sendable {
    let bell = Doorbell()
}

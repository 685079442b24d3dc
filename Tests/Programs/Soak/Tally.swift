internal import Foundation
internal import Synchronization

/// Counts the work that one load has sent to loops, and the work that has arrived.
///
/// Any thread can count.
final class Tally: Sendable {
    /// The number of sent pieces of work, each of which must arrive exactly once.
    let sent = Atomic<Int>(0)
    /// The number of pieces that have arrived.
    let received = Atomic<Int>(0)
    /// The number of pieces that have arrived again.
    let twice = Atomic<Int>(0)
    /// The number of pieces that have arrived after a later piece of the same thread.
    let misordered = Atomic<Int>(0)

    private let faultList = Mutex<[String]>([])

    /// The other faults, at most twenty of them.
    var faults: [String] { faultList.withLock { $0 } }

    func fault(_ what: String) {
        faultList.withLock { if $0.count < 20 { $0.append(what) } }
    }

    func sendOne() { sent.add(1, ordering: .relaxed) }
    func receiveOne() { received.add(1, ordering: .relaxed) }

    /// The number of missing pieces, negated; a piece that is still missing after all had time to arrive is lost.
    var missing: Int {
        received.load(ordering: .acquiring) - twice.load(ordering: .relaxed) - sent.load(ordering: .acquiring)
    }

    /// Waits until all sent pieces have arrived, or until nothing has arrived for 20 seconds.
    func settle() {
        var last = -1
        var quietSince = Date.now
        while missing < 0 {
            let now = received.load(ordering: .relaxed)
            if now != last { quietSince = .now }
            if Date.now.timeIntervalSince(quietSince) > 20 { return }
            last = now
            Thread.sleep(forTimeInterval: 0.002)
        }
    }
}

/// The numbers of one sender that one receiver gets, each of which must arrive once and in order.
struct SenderSequence {
    private var expected = 0
    /// The numbers that have not arrived, although later ones have.
    private var skipped: Set<Int> = []

    mutating func receive(_ number: Int, for tally: Tally) {
        tally.receiveOne()
        if number == expected {
            expected += 1
        } else if number > expected {
            tally.misordered.add(1, ordering: .relaxed)
            skipped.formUnion(expected..<min(number, expected + 1_000_000))
            expected = number + 1
        } else if skipped.remove(number) != nil {
            tally.misordered.add(1, ordering: .relaxed)
        } else {
            tally.twice.add(1, ordering: .relaxed)
        }
    }
}

/// A flag that any thread can set, and that stays set.
final class Latch: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    /// Sets the flag.
    ///
    /// - Returns: True if the flag was already set.
    @discardableResult
    func set() -> Bool { value.exchange(true, ordering: .acquiringAndReleasing) }
}

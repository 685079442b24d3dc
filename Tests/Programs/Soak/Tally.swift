internal import Foundation
internal import Synchronization

/// Counts the work that one load has sent to loops, and the work that has arrived.
///
/// Any thread may count.
final class Tally: Sendable {
    /// The work that was sent and must arrive, each piece exactly once.
    let sent = Atomic<Int>(0)
    /// The work that has arrived.
    let received = Atomic<Int>(0)
    /// The pieces that have arrived once more.
    let twice = Atomic<Int>(0)
    /// The pieces that have arrived after a later one of the same thread.
    let misordered = Atomic<Int>(0)

    private let faultList = Mutex<[String]>([])

    /// The other faults, at most twenty of them.
    var faults: [String] { faultList.withLock { $0 } }

    /// Adds a fault.
    func fault(_ what: String) {
        faultList.withLock { if $0.count < 20 { $0.append(what) } }
    }

    func sendOne() { sent.add(1, ordering: .relaxed) }
    func receiveOne() { received.add(1, ordering: .relaxed) }

    /// The number of pieces that have not arrived, negated; a piece still missing after everything had time to arrive is lost.
    var missing: Int {
        received.load(ordering: .acquiring) - twice.load(ordering: .relaxed) - sent.load(ordering: .acquiring)
    }

    /// Waits until everything that was sent has arrived, or until nothing has arrived for 20 seconds.
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

/// The numbers of one sender as one receiver sees them: each must arrive once, and in order.
struct SenderSequence {
    private var expected = 0
    /// The numbers that were left out so far.
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

/// A flag that is set at most once, by any thread.
final class Latch: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    /// Sets the flag.
    ///
    /// - Returns: True if it was set already.
    @discardableResult
    func set() -> Bool { value.exchange(true, ordering: .acquiringAndReleasing) }
}

internal import Foundation
internal import Synchronization

/// What one load of a soak has given to loops, and what has come of it.
///
/// Any thread counts up.
final class SoakTally: Sendable {
    /// What was given and must come, each exactly once.
    let sent = Atomic<Int>(0)
    /// What has come.
    let received = Atomic<Int>(0)
    /// What has come once more.
    let twice = Atomic<Int>(0)
    /// What has come later than something that was given after it by the same thread.
    let misordered = Atomic<Int>(0)

    private let complaints = Mutex<[String]>([])

    /// What is wrong beside the counts, at most a few lines of it.
    var faults: [String] { complaints.withLock { $0 } }

    /// Something that must not be.
    func fault(_ what: String) {
        complaints.withLock { if $0.count < 20 { $0.append(what) } }
    }

    func sendOne() { sent.add(1, ordering: .relaxed) }
    func receiveOne() { received.add(1, ordering: .relaxed) }

    /// What has not come, and never will once everything has had its time.
    var missing: Int {
        received.load(ordering: .acquiring) - twice.load(ordering: .relaxed) - sent.load(ordering: .acquiring)
    }

    /// Waits until all has come that was given, or until nothing more comes.
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

/// The numbers of one sender, as one receiver sees them: each must come once, and in order.
struct SoakSequence {
    private var expected = 0
    /// Those that were left out so far.
    private var skipped: Set<Int> = []

    mutating func receive(_ number: Int, for tally: SoakTally) {
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

import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// The lists in which a queue keeps and finds its entries, without a loop.
@Suite struct EntryListTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `the first is the oldest that waits, and what is kept is at most twice what waits`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let track = QueueTrack([.default])
        var list = EntryList()
        var queued: [QueueEntry] = []
        var examinedCount = 0
        var removals = 0
        // More often one than the other: lists that grow, and lists that run empty.
        let growth = Int.random(in: 1..<4, using: &random)
        for sequence in 0..<500 {
            if Int.random(in: 0..<5, using: &random) < growth {
                let entry = QueueEntry(Notification(name: .a), sequence: sequence, track: track)
                list.append(entry)
                queued.append(entry)
            } else if let index = queued.indices.randomElement(using: &random) {
                #expect(queued.remove(at: index).takeNotification() != nil)
                list.didRemoveOne(&examinedCount)
                removals += 1
            }
            #expect(list.first === queued.first)
            #expect(list.count <= queued.count * 2)
        }
        #expect(examinedCount <= removals * 4)
    }

    @Test func `with 100,000 waiting an operation looks at a handful of entries`() {
        var random = SplitMix64(seed: 0)
        let lines = QueueLines(NotificationCenter())
        let names = (0..<100_000).map { Notification.Name("\($0)") }
        let both: NotificationQueue.NotificationCoalescing = [.onName, .onSender]
        for name in names {
            lines.enqueue(Notification(name: name), on: lines.asap, both, .first, [.default])
        }
        // In any order, so that what goes is in the middle of the list of those without sender.
        for name in names.shuffled(using: &random) {
            let note = Notification(name: name)
            let mask = Bool.random(using: &random) ? both : .onName
            switch Int.random(in: 0..<4, using: &random) {
            case 0: lines.enqueue(note, on: lines.idle, mask, .first, [.default])
            case 1: lines.enqueue(note, on: lines.asap, mask, .latest, [.default])
            case 2: lines.enqueue(note, on: lines.asap, mask, .merge { _, new in new }, [.default])
            default: lines.remove(like: note, mask)
            }
        }
        #expect(lines.index.examinedCount < 200_000 * 10)
    }

    @Test func `replacing again and again in a mode that does not run keeps one entry`() {
        let lines = QueueLines(NotificationCenter())
        weak var first: QueueEntry?
        for number in 0..<100 {
            lines.enqueue(Notification(name: .a), on: lines.asap, .onName, .latest, [.init("custom")])
            if number == 0 { first = lines.index.first(like: Notification(name: .a), .onName) }
        }
        #expect(first == nil)
        #expect(lines.asap.holdsWork(for: .init("custom"), isCommon: false))
        lines.remove(like: Notification(name: .a), .onName)
        #expect(!lines.asap.holdsWork(for: .init("custom"), isCommon: false))
    }
}

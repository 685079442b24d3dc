import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// Of the notifications that match, one is posted, at a defined place.
@Suite struct CoalescingTests {
    private typealias Mask = NotificationQueue.NotificationCoalescing

    /// A waiting notification as the rule under test describes it.
    private struct Waiting: Equatable {
        var name: Notification.Name
        var sender: ObjectIdentifier?
        var text: String
        var isIdle: Bool
    }

    private static func isLike(_ waiting: Waiting, _ note: Notification, _ mask: Mask) -> Bool {
        !mask.isEmpty && (!mask.contains(.onName) || waiting.name == note.name)
            && (!mask.contains(.onSender) || waiting.sender == note.sender)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `after any enqueuing, merging and dequeuing, the rest is posted in order`(seed: UInt64) throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            let recorder = Recorder()
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive()
            let token = recorder.center.addObserver(forName: .init("end")) { _ in loop.stop() }
            let feeds: [Feed?] = [nil, Feed(), Feed()]
            let masks: [Mask] = [[], .onName, .onSender, [.onName, .onSender]]
            var waiting: [Waiting] = []
            for number in 0..<60 {
                let name = [Notification.Name.a, .b, .c].randomElement(using: &random) ?? .a
                let note = Notification(
                    name, "\(number)", object: feeds.randomElement(using: &random) ?? nil)
                let mask = masks.randomElement(using: &random) ?? []
                let isLike = { (waiting: Waiting) in Self.isLike(waiting, note, mask) }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    queue.dequeueNotifications(matching: note, coalesceMask: mask)
                    waiting.removeAll(where: isLike)
                    continue
                }
                let isIdle = Bool.random(using: &random)
                let style: NotificationQueue.PostingStyle = isIdle ? .whenIdle : .asap
                let new = Waiting(name: name, sender: note.sender, text: note.text, isIdle: isIdle)
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    queue.enqueue(note, postingStyle: style, coalesceMask: mask)
                    if !waiting.contains(where: isLike) { waiting.append(new) }
                case 1:
                    queue.enqueue(note, postingStyle: style, coalesceMask: mask, keeping: .latest)
                    waiting.removeAll(where: isLike)
                    waiting.append(new)
                default:
                    queue.enqueue(
                        note, postingStyle: style, coalesceMask: mask,
                        keeping: .merge { old, new in
                            Notification(old.name, "\(old.text)+\(new.text)", object: old.object)
                        })
                    if let index = waiting.firstIndex(where: isLike) {
                        waiting[index].text += "+\(note.text)"
                    } else {
                        waiting.append(new)
                    }
                }
            }
            queue.enqueue(Notification(name: .init("end")), postingStyle: .whenIdle, coalesceMask: [])
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            let expected = waiting.filter { !$0.isIdle } + waiting.filter { $0.isIdle }
            #expect(recorder.texts == expected.map(\.text) + ["end"])
            token.remove()
        }
    }

    /// The notifications that are posted if these are enqueued one after another.
    private func posted(
        _ notes: [Notification], _ mask: Mask? = nil, keeping survivor: NotificationQueue.Survivor = .first
    ) throws -> [String] {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            for note in notes {
                if let mask {
                    queue.enqueue(note, postingStyle: .asap, coalesceMask: mask, keeping: survivor)
                } else {
                    queue.enqueue(note, postingStyle: .asap, keeping: survivor)
                }
            }
            loop.pass()
        }
        return recorder.texts
    }

    // Guarantees: Of the notifications that match, the first is kept, in its place, unless you ask for another.
    @Test func `the first notification stays, in its place, unless you ask for another`() throws {
        let notes = [
            Notification(.a, "1"), Notification(.b, "2"), Notification(.a, "3"), Notification(.b, "4"),
        ]
        #expect(try posted(notes) == ["1", "2"])
        #expect(try posted(notes, keeping: .latest) == ["3", "4"])
        #expect(try posted(Array(notes[..<3]), keeping: .latest) == ["2", "3"])
        #expect(
            try posted(notes, keeping: .merge { Notification($0.name, "\($0.text) and \($1.text)") }) == [
                "1 and 3", "2 and 4",
            ])
    }

    @Test func `notifications match by name, by sender or by both, and two without a sender match`() throws {
        let (feed, other) = (Feed(), Feed())
        let notes = [
            Notification(.a, "a feed", object: feed), Notification(.a, "a other", object: other),
            Notification(.b, "b feed", object: feed), Notification(.a, "a none"), Notification(.b, "b none"),
            Notification(.a, "a feed again", object: feed), Notification(.b, "b none again"),
            Notification(
                name: .a, sender: ObjectIdentifier(other), userInfo: ["text": "a identity of other"]),
        ]
        #expect(try posted(notes, []) == notes.map(\.text))
        #expect(try posted(notes, .onName) == ["a feed", "b feed"])
        #expect(try posted(notes, .onSender) == ["a feed", "a other", "a none"])
        let both = ["a feed", "a other", "b feed", "a none", "b none"]
        #expect(try posted(notes, [.onName, .onSender]) == both)
        #expect(try posted(notes) == both)
    }

    @Test func `a waiting notification is found whatever its own mask, style and modes`() throws {
        let recorder = Recorder()
        let custom = RunLoop.Mode("custom")
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            queue.enqueue(
                Notification(.a, "idle"), postingStyle: .whenIdle, coalesceMask: [], forModes: [custom])
            queue.enqueue(Notification(.b, "custom"), postingStyle: .asap, forModes: [custom])
            queue.enqueue(Notification(.a, "asap"), postingStyle: .asap)
            queue.enqueue(Notification(.b, "default"), postingStyle: .asap)
            loop.pass()
            #expect(recorder.texts.isEmpty)
            loop.pass(in: custom)
            #expect(recorder.texts == ["custom"])
            queue.dequeueNotifications(matching: Notification(name: .a), coalesceMask: .onName)
            queue.enqueue(Notification(.a, "asap"), postingStyle: .asap)
            loop.pass()
        }
        #expect(recorder.texts == ["custom", "asap"])
    }

    @Test func `a now notification takes matching ones out, even if it is not posted itself`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            for style in [NotificationQueue.PostingStyle.asap, .whenIdle] {
                queue.enqueue(Notification(.a, "queued"), postingStyle: style, coalesceMask: [])
            }
            queue.enqueue(Notification(.b, "other"), postingStyle: .asap)
            queue.enqueue(Notification(.a, "now"), postingStyle: .now)
            loop.pass()
            loop.perform {
                queue.enqueue(Notification(.a, "queued again"), postingStyle: .asap)
                queue.enqueue(Notification(.a, "dropped"), postingStyle: .now, forModes: [.init("custom")])
            }
            loop.pass()
        }
        #expect(recorder.texts == ["now", "other"])
    }

    @Test func `a notification that was posted matches no later one`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let token = recorder.center.addObserver(forName: .a) { note in
                if note.text == "1" { queue.enqueue(Notification(.a, "2"), postingStyle: .asap) }
            }
            queue.enqueue(Notification(.a, "1"), postingStyle: .asap)
            loop.run()
            queue.enqueue(Notification(.a, "3"), postingStyle: .asap)
            loop.run()
            token.remove()
        }
        #expect(recorder.texts == ["1", "2", "3"])
    }

    @Test func `dequeuing needs a mask, and takes out all that match`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let other = NotificationQueue(notificationCenter: recorder.center)
            for queue in [queue, other] {
                for number in 0..<4 {
                    queue.enqueue(
                        Notification(number.isMultiple(of: 2) ? .a : .b, "\(number)"), postingStyle: .asap,
                        coalesceMask: [])
                }
            }
            queue.dequeueNotifications(matching: Notification(name: .b), coalesceMask: [])
            queue.dequeueNotifications(matching: Notification(name: .a), coalesceMask: .onName)
            loop.pass()
        }
        #expect(recorder.texts == ["1", "3", "0", "1", "2", "3"])
    }

    @Test func `a merge that changes the name or sender is misuse`() async {
        let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { _ in
                for _ in 0..<2 {
                    NotificationQueue.default.enqueue(
                        Notification(name: .a), postingStyle: .asap,
                        keeping: .merge { _, _ in Notification(name: .b) })
                }
            }
        }
        let sender = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { _ in
                for _ in 0..<2 {
                    NotificationQueue.default.enqueue(
                        Notification(name: .a), postingStyle: .asap,
                        keeping: .merge { old, _ in Notification(name: old.name, object: Feed()) })
                }
            }
        }
        for result in [name, sender] {
            let message = result?.message ?? ""
            #expect(
                message.contains(
                    "NotificationQueue.enqueue: the merged notification has another name or sender"))
            #expect(message.contains("keep those of the old one"))
        }
    }
}

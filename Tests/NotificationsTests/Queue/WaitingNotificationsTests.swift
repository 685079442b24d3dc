import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// The notifications of a queue, without a loop, in comparison with a plain list that is searched linearly.
@Suite struct WaitingNotificationsTests {
    typealias Mask = NotificationQueue.NotificationCoalescing

    /// A notification that must be waiting.
    private struct Expected {
        let ticket: WaitingNotifications.Ticket
        let track: Int
        var notification: Notification

        func says(like other: Notification, _ mask: Mask) -> Bool {
            (!mask.contains(.onName) || notification.name == other.name)
                && (!mask.contains(.onSender) || notification.sender == other.sender)
        }
    }

    private static let masks: [Mask] = [.onName, .onSender, [.onName, .onSender]]

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `the oldest that matches is found, and each leaves all its lists`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var waiting = WaitingNotifications()
        let tracks = [waiting.addGroup([.default]), waiting.addGroup([.common])]
        let feeds = [Feed(), Feed(), nil]
        let names = (0..<Int.random(in: 1..<40, using: &random)).map { Notification.Name("\($0)") }
        var expected: [Expected] = []
        // Insertions or removals are more frequent, so that some queues grow and others become empty.
        let growth = Int.random(in: 2..<5, using: &random)
        for number in 0..<400 {
            let name = try #require(names.randomElement(using: &random))
            let note = Notification(
                name: name, object: try #require(feeds.randomElement(using: &random)),
                userInfo: ["number": number])
            let mask = try #require(Self.masks.randomElement(using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case ..<growth:
                let track = try #require(tracks.randomElement(using: &random))
                let ticket = waiting.append(note, toGroup: track)
                expected.append(Expected(ticket: ticket, track: track, notification: note))
            case 5:
                guard let index = expected.firstIndex(where: { $0.says(like: note, mask) }) else { break }
                let old = expected[index].notification
                let new = Notification(name: old.name, object: old.object, userInfo: ["number": number])
                let replaced = waiting.replace(expected[index].ticket, with: new)
                #expect(replaced?.userInfo["number"] as? Int == old.userInfo["number"] as? Int)
                expected[index].notification = new
            default:
                guard let index = expected.indices.randomElement(using: &random) else { break }
                let gone = expected.remove(at: index)
                #expect(
                    waiting.remove(gone.ticket)?.userInfo["number"] as? Int
                        == gone.notification.userInfo["number"] as? Int)
                #expect(waiting.notification(gone.ticket) == nil)
            }
            #expect(waiting.count == expected.count)
            #expect(
                waiting.first(matching: note, mask) == expected.first { $0.says(like: note, mask) }?.ticket)
            #expect(waiting.first(matching: note, []) == nil)
            for track in tracks {
                #expect(waiting.first(inGroup: track) == expected.first { $0.track == track }?.ticket)
            }
        }
    }

    // Guarantees: Enqueuing costs the same, however many notifications wait.
    @Test func `with 100,000 waiting no search looks at more than a hundred of them`() {
        var random = SplitMix64(seed: 0)
        let lines = CoalescingQueue(NotificationCenter())
        let names = (0..<100_000).map { Notification.Name("\($0)") }
        let both: Mask = [.onName, .onSender]
        for name in names {
            lines.enqueue(Notification(name: name), on: lines.asap, both, .first, [.default])
        }
        // In random order, so that removals occur in the middle of the list of notifications without a sender.
        for name in names.shuffled(using: &random) {
            let note = Notification(name: name)
            let mask = Bool.random(using: &random) ? both : .onName
            switch Int.random(in: 0..<4, using: &random) {
            case 0: lines.enqueue(note, on: lines.idle, mask, .first, [.default])
            case 1: lines.enqueue(note, on: lines.asap, mask, .latest, [.default])
            case 2: lines.enqueue(note, on: lines.asap, mask, .merge { _, new in new }, [.default])
            default: lines.remove(matching: note, mask)
            }
        }
        // A linear search would examine thousands.
        #expect(lines.waiting.count > 10_000)
        #expect(lines.waiting.longestSearch < 100)
    }

    // Guarantees: Enqueuing costs the same, however many notifications wait.
    @Test func `many senders of one name are found as quickly`() {
        var waiting = WaitingNotifications()
        let track = waiting.addGroup([.default])
        // Objects have addresses whose low bits are equal.
        let feeds = (0..<20_000).map { _ in Feed() }
        for mask in Self.masks { _ = waiting.first(matching: Notification(name: .a), mask) }
        for feed in feeds { waiting.append(Notification(name: .a, object: feed), toGroup: track) }
        for feed in feeds {
            #expect(waiting.first(matching: Notification(name: .b, object: feed), .onSender) != nil)
        }
        #expect(waiting.longestSearch < 100)
    }

    @Test func `a notification that was replaced again and again waits alone`() {
        let lines = CoalescingQueue(NotificationCenter())
        for _ in 0..<100 {
            lines.enqueue(Notification(name: .a), on: lines.asap, .onName, .latest, [.init("custom")])
            #expect(lines.waiting.count == 1)
        }
        #expect(lines.asap.holdsWork(for: .init("custom"), isCommon: false))
        lines.remove(matching: Notification(name: .a), .onName)
        #expect(!lines.asap.holdsWork(for: .init("custom"), isCommon: false))
    }
}

/// The hash table alone, with slot numbers as keys.
@Suite struct CoalescingTableTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a slot is found from its insertion to its removal`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var table = CoalescingTable()
        var expected: [UInt32: UInt32] = [:]
        // With few hash values, many places share one.
        let hashes: ClosedRange<UInt32> = Bool.random(using: &random) ? 0...7 : 0...UInt32.max
        let growth = Int.random(in: 1..<4, using: &random)
        for place in 0..<2_000 as Range<UInt32> {
            if Int.random(in: 0..<5, using: &random) < growth {
                let hash = UInt32.random(in: hashes, using: &random)
                table.insert(place, hash: hash)
                expected[place] = hash
            } else if let (gone, hash) = expected.randomElement(using: &random) {
                let index = try #require(table.index(of: hash) { $0 == gone })
                table.remove(at: index)
                expected[gone] = nil
            }
            #expect(table.count == expected.count)
            if place % 50 == 0 {
                for (place, hash) in expected {
                    let index = try #require(table.index(of: hash) { $0 == place })
                    #expect(table[index] == place)
                }
                #expect(table.index(of: 1) { $0 == .max } == nil)
            }
        }
    }
}

import TestSupport
import Testing

@testable import Notifications

/// Notifications that have a type of their own.
@Suite struct NotificationMessageTests {
    private struct PriceChanged: NotificationMessage {
        typealias Subject = Feed
        let price: Int
    }

    /// Another type with the same structure.
    private struct CostChanged: NotificationMessage {
        typealias Subject = Feed
        let price: Int
    }

    private struct Changed<Value: Sendable>: NotificationMessage {
        typealias Subject = Feed
        let value: Value
    }

    @Test func `an observer of a type gets the messages of that very type`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        let texts = Log<String>()
        let token = center.addObserver(for: PriceChanged.self) { message in log.add(message.price) }
        let generic = center.addObserver(for: Changed<String>.self) { message in texts.add(message.value) }
        center.post(PriceChanged(price: 1))
        center.post(CostChanged(price: 2))
        center.post(Changed(value: 3))
        center.post(Changed(value: "four"))
        center.post(PriceChanged(price: 5))
        #expect(log.entries == [1, 5])
        #expect(texts.entries == ["four"])
        token.remove()
        generic.remove()
    }

    @Test func `an observer of a subject sees that very subject, and one of no subject sees all`() {
        let center = NotificationCenter()
        let (mine, other) = (Feed(), Feed())
        let log = Log<String>()
        let tokens = [
            center.addObserver(of: mine, for: PriceChanged.self) { message in
                log.add("mine \(message.price)")
            },
            center.addObserver(for: PriceChanged.self) { message in log.add("all \(message.price)") },
        ]
        center.post(PriceChanged(price: 1), subject: mine)
        center.post(PriceChanged(price: 2), subject: other)
        center.post(PriceChanged(price: 3))
        #expect(log.entries == ["mine 1", "all 1", "all 2", "all 3"])
        for token in tokens { token.remove() }
    }

    @Test func `messages and notifications are separate, even for observers of every name`() {
        let recorder = Recorder()
        let log = Log<Int>()
        let token = recorder.center.addObserver(for: PriceChanged.self) { message in log.add(message.price) }
        recorder.center.post(PriceChanged(price: 1))
        recorder.center.post(name: Notification.Name("PriceChanged"))
        recorder.center.post(name: Notification.Name(String(reflecting: PriceChanged.self)))
        #expect(log.entries == [1])
        #expect(recorder.texts == ["PriceChanged", String(reflecting: PriceChanged.self)])
        token.remove()
    }

    @Test func `observers of a message are called in order of registration, and may end each other`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        let tokens = Log<ObservationToken>()
        let added = Log<ObservationToken>()
        for id in 0..<4 {
            tokens.add(
                center.addObserver(for: PriceChanged.self) { _ in
                    log.add(id)
                    if id != 1 { return }
                    tokens.entries[2].remove()
                    added.add(center.addObserver(for: PriceChanged.self) { _ in log.add(9) })
                })
        }
        center.post(PriceChanged(price: 1))
        #expect(log.entries == [0, 1, 3])
        for token in tokens.entries { token.remove() }
        center.post(PriceChanged(price: 1))
        #expect(log.entries == [0, 1, 3, 9])
    }

    @Test func `the subject is not kept alive, and its end ends no other observation`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        weak var alive: Feed?
        let tokens: [ObservationToken]
        do {
            let feed = Feed()
            alive = feed
            tokens = [
                center.addObserver(of: feed, for: PriceChanged.self) { message in log.add(-message.price) },
                center.addObserver(for: PriceChanged.self) { message in log.add(message.price) },
            ]
            center.post(PriceChanged(price: 1), subject: feed)
        }
        #expect(alive == nil)
        center.post(PriceChanged(price: 2), subject: Feed())
        #expect(log.entries == [-1, 1, 2])
        for token in tokens { token.remove() }
    }

    @Test func `an observation of messages ends with its last token, and with its center`() {
        var center: NotificationCenter? = NotificationCenter()
        let log = Log<String>()
        var token = center?.addObserver(for: PriceChanged.self) { _ in log.add("called") }
        token = nil
        center?.post(PriceChanged(price: 1))
        #expect(token == nil)
        #expect(log.entries.isEmpty)
        let canary = Canary { log.add("gone") }
        let other = center?.addObserver(for: PriceChanged.self) { [canary] _ in canary.sing() }
        _ = consume canary
        center = nil
        #expect(log.entries == ["gone"])
        other?.remove()
    }

    @TaskLocal private static var poster = "nobody"

    @Test func `an observer on the posting thread sees the task-local values of the poster`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let token = center.addObserver(for: PriceChanged.self) { _ in log.add(Self.poster) }
        Self.$poster.withValue("a task") { center.post(PriceChanged(price: 1)) }
        center.post(PriceChanged(price: 2))
        #expect(log.entries == ["a task", "nobody"])
        token.remove()
    }
}

import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// A bag owns tokens.
@Suite struct ObservationBagTests {
    @Test func `observations continue as long as the bag that has their tokens`() {
        let center = NotificationCenter()
        let log = Log<String>()
        var bag: ObservationBag? = ObservationBag()
        for _ in 0..<2 { bag?.add(center.addObserver(forName: .a) { log.add($0.text) }) }
        center.post(Notification(.a, "kept"))
        #expect(bag != nil)
        bag = nil
        center.post(Notification(.a, "destroyed"))
        #expect(log.entries == ["kept", "kept"])
    }

    @Test func `emptying a bag ends its observations, including those of tokens with other owners`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let bag = ObservationBag()
        let token = center.addObserver(forName: .a) { log.add($0.text) }
        bag.add(token)
        bag.add(center.addObserver(forName: .a) { log.add($0.text) })
        bag.removeAll()
        center.post(name: .a)
        #expect(log.entries.isEmpty)
        #expect(token.registration.isRemoved)
        // The bag accepts tokens again.
        bag.add(center.addObserver(forName: .a) { log.add($0.text) })
        center.post(Notification(.a, "again"))
        #expect(log.entries == ["again"])
        bag.removeAll()
    }

    @Test(arguments: [false, true])
    func `emptying a bag with a wait returns when no handler is running`(inTask: Bool) async throws {
        let center = NotificationCenter()
        let (isRunning, isOver) = (Gate(), Gate())
        let log = Log<String>()
        let bag = ObservationBag()
        bag.add(
            center.addObserver(forName: .a) { _ in
                isRunning.open()
                #expect(isOver.wait())
                log.add("handler returns")
            })
        let poster = try Threads(1) { _ in center.post(name: .a) }
        #expect(isRunning.wait())
        let opener = try Threads(1) { _ in isOver.open() }
        if inTask { await bag.allRemoved() } else { waitForAll(bag) }
        log.add("bag is empty")
        #expect(log.entries == ["handler returns", "bag is empty"])
        try opener.join()
        try poster.join()
    }

    private func waitForAll(_ bag: ObservationBag) { bag.removeAllAndWait() }

    @Test func `a handler may empty the bag that has its own token, and is called once`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let bag = ObservationBag()
        bag.add(
            center.addObserver(forName: .a) { [weak bag] note in
                log.add(note.text)
                bag?.removeAll()
            })
        for _ in 0..<2 { center.post(name: .a) }
        #expect(log.entries == ["a"])
    }

    @Test func `a token that is destroyed with a bag may reach the bag`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let bag = ObservationBag()
        do {
            let canary = Canary { [weak bag] in
                bag?.removeAll()
                log.add("handler released")
            }
            bag.add(center.addObserver(forName: .a) { [canary] _ in canary.sing() })
        }
        bag.removeAll()
        #expect(log.entries == ["handler released"])
    }
}

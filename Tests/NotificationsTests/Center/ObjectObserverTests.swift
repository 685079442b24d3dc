import Glibc
import RunLoops
import Synchronization
import TestSupport
import Testing

@testable import Notifications

/// Observing objects, which the center holds weakly.
@Suite struct ObjectObserverTests {
    private final class Screen: Sendable {
        let log: Log<String>
        let name: String

        init(_ name: String, _ log: Log<String>) {
            self.name = name
            self.log = log
        }

        deinit { log.add("\(name) gone") }

        func show(_ note: Notification) { log.add("\(name) shows \(note.text)") }
        func hide(_ note: Notification) { log.add("\(name) hides \(note.text)") }
    }

    // Guarantees: An object that is registered itself is alive as long as its handler runs, and is not called after it was
    // destroyed.
    @Test func `an observer is not kept alive, and is not called after it was destroyed`() {
        let center = NotificationCenter()
        let log = Log<String>()
        do {
            let screen = Screen("one", log)
            center.addObserver(screen, name: .a) { $0.show($1) }
            center.post(name: .a)
            #expect(screen.name == "one")
        }
        center.post(name: .a)
        #expect(log.entries == ["one shows a", "one gone"])
    }

    // Guarantees: An object that is registered itself is alive as long as its handler runs, and is not called after it was
    // destroyed.
    @Test func `an observer is alive while its handler runs`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let owner = Mutex<Screen?>(Screen("one", log))
        let drop = center.addObserver(forName: .b) { _ in owner.withLock { $0 = nil } }
        if let screen = owner.withLock({ $0 }) {
            center.addObserver(screen, name: .a) { screen, note in
                center.post(name: .b)
                screen.show(note)
            }
        }
        for _ in 0..<2 { center.post(name: .a) }
        // The second post calls no handler, and releases the handler that holds the center.
        #expect(log.entries == ["one shows a", "one gone"])
        drop.remove()
    }

    @Test func `an observer that another thread releases finishes its call, and is not called again`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        let isRunning = Gate()
        let isReleased = Gate()
        let owner = Mutex<Screen?>(Screen("one", log))
        if let screen = owner.withLock({ $0 }) {
            center.addObserver(screen, name: .a) { screen, note in
                isRunning.open()
                #expect(isReleased.wait())
                screen.show(note)
            }
        }
        let poster = try Threads(1) { _ in
            center.post(name: .a)
            center.post(name: .a)
        }
        #expect(isRunning.wait())
        owner.withLock { $0 = nil }
        log.add("released")
        isReleased.open()
        try poster.join()
        #expect(log.entries == ["released", "one shows a", "one gone"])
    }

    @Test(arguments: [Notification.Name.a, nil])
    func `the next post removes all registrations of an observer that was destroyed`(
        name: Notification.Name?
    ) {
        let center = NotificationCenter()
        let log = Log<String>()
        // Under each name, one living observer among destroyed ones.
        let living = Screen("living", log)
        center.addObserver(living, name: .a) { $0.show($1) }
        center.addObserver(living, name: nil) { $0.show($1) }
        weak var observation: Observation?
        do {
            let screen = Screen("one", log)
            let canary = Canary { log.add("handler released") }
            center.addObserver(screen, name: name) { [canary] _, _ in canary.sing() }
            observation = observed(center, name).last
            #expect(observation != nil)
        }
        #expect(log.entries == ["one gone"])
        center.post(name: .a)
        let shown = Array(repeating: "living shows a", count: 2)
        #expect(log.entries.filter { $0 != "handler released" } == ["one gone"] + shown)
        #expect(log.entries.contains("handler released"))
        // The array that the post has traversed can be an earlier one.
        #expect(observed(center, name).count == 1)
        #expect(observation == nil)
    }

    private func observed(_ center: NotificationCenter, _ name: Notification.Name?) -> [Observation] {
        Array((name.map { center.names.snapshot(for: $0) } ?? center.everyName.snapshot(for: .init())) ?? [])
    }

    @Test func `an object that is registered twice is called twice, and removed at once`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let screen = Screen("one", log)
        center.addObserver(screen, name: .a) { $0.show($1) }
        center.addObserver(screen, name: .a) { $0.show($1) }
        center.post(name: .a)
        #expect(log.entries == ["one shows a", "one shows a"])
        center.removeObserver(screen)
        center.post(name: .a)
        #expect(log.entries.count == 2)
    }

    @Test func `an observer is removed by name and object, where nil is any`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let feeds = [Feed(), Feed()]
        let screen = Screen("one", log)
        let other = Screen("other", log)

        /// The calls for each name and each object after one removal.
        func called(_ name: Notification.Name?, _ object: Feed?) -> [String] {
            center.removeObserver(screen)
            for name in [Notification.Name.a, .b] {
                for feed in feeds { center.addObserver(screen, name: name, object: feed) { $0.show($1) } }
            }
            center.addObserver(screen, name: nil) { $0.hide($1) }
            center.removeObserver(screen, name: name, object: object)
            let before = log.entries.count
            center.post(Notification(.a, "a0", object: feeds[0]))
            center.post(Notification(.b, "b0", object: feeds[0]))
            center.post(Notification(.b, "b1", object: feeds[1]))
            return Array(log.entries[before...]).filter { $0.contains("shows") }
        }

        center.addObserver(other, name: .a) { $0.hide($1) }
        #expect(called(.c, nil) == ["one shows a0", "one shows b0", "one shows b1"])
        #expect(called(.a, nil) == ["one shows b0", "one shows b1"])
        #expect(called(nil, feeds[0]) == ["one shows b1"])
        #expect(called(.b, feeds[1]) == ["one shows a0", "one shows b0"])
        #expect(called(nil, nil) == [])
        #expect(log.entries.filter { $0 == "other hides a0" }.count == 5)
        #expect(log.entries.filter { $0 == "one hides a0" }.count == 4)
    }

    @Test func `removing an object that is not registered is harmless`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let (screen, stranger) = (Screen("one", log), Screen("stranger", log))
        center.addObserver(screen, name: .a) { $0.show($1) }
        center.removeObserver(stranger)
        center.removeObserver(stranger, name: .a)
        center.removeObserver(screen, name: .b)
        center.removeObserver(screen, name: .a, object: stranger)
        center.post(name: .a)
        center.removeObserver(screen)
        center.removeObserver(screen)
        center.post(name: .a)
        #expect(log.entries == ["one shows a"])
    }

    @Test func `an observer may remove itself, and others that then are not called`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let (screen, other) = (Screen("one", log), Screen("other", log))
        center.addObserver(screen, name: .a) { screen, note in
            screen.show(note)
            center.removeObserver(screen)
            center.removeObserver(other)
        }
        center.addObserver(other, name: .a) { $0.show($1) }
        center.post(name: .a)
        center.post(name: .a)
        #expect(log.entries == ["one shows a"])
    }

    // Guarantees: An object that is registered itself is alive as long as its handler runs, and is not called after it was
    // destroyed.
    @Test func `in any race with its last reference, an observer is called alive or not at all`()
        throws
    {
        let center = NotificationCenter()
        let (alive, calls) = (Shared(), Shared())
        /// An observer whose state is destroyed with it, so that a late call is noticed.
        final class Fragile: Sendable {
            private let life: Counted
            private let facts: [Int]
            private let calls: Shared
            init(_ alive: Shared, _ calls: Shared) {
                life = Counted(alive)
                facts = Array(0..<100)
                self.calls = calls
            }
            func take(_ note: Notification) { if facts.reduce(0, +) == 4_950 { calls.increment() } }
        }
        let isOver = Shared()
        let posters = try Threads(2) { _ in while isOver.count == 0 { center.post(name: .a) } }
        for round in 0..<2_000 {
            let observer = Mutex<Fragile?>(Fragile(alive, calls))
            if let fragile = observer.withLock({ $0 }) {
                center.addObserver(fragile, name: .a) { $0.take($1) }
            }
            let before = calls.count
            if round.isMultiple(of: 8) { while calls.count == before { sched_yield() } }
            observer.withLock { $0 = nil }
        }
        isOver.increment()
        try posters.join()
        #expect(calls.count > 0)
        #expect(alive.count == 0)
        center.post(name: .a)
        #expect(center.names.snapshot(for: .a) == nil)
    }

    @Test
    func `a post of an observer that is being destroyed is delivered, inside the outer post`() {
        let center = NotificationCenter()
        let log = Log<String>()
        final class Parting: Sendable {
            let center: NotificationCenter
            init(_ center: NotificationCenter) { self.center = center }
            func take(_ note: Notification) {}
            deinit { center.post(Notification(.b, "last words")) }
        }
        let owner = Mutex<Parting?>(Parting(center))
        let first = center.addObserver(forName: .a) { _ in
            log.add("first")
            owner.withLock { $0 = nil }
        }
        if let parting = owner.withLock({ $0 }) {
            center.addObserver(parting, name: .a) { parting, _ in
                parting.center.post(Notification(.b, "in time"))
            }
        }
        let others = [
            center.addObserver(forName: .b) { log.add($0.text) },
            center.addObserver(forName: .a) { _ in log.add("last") },
        ]
        center.post(name: .a)
        #expect(log.entries == ["first", "last words", "last"])
        for token in others + [first] { token.remove() }
    }
}

import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// A post: the observers that it calls, their order and thread, and the calls that are allowed meanwhile.
@Suite struct NotificationCenterTests {
    /// An observer as the rule under test describes it.
    private struct Observed {
        let id: Int
        let name: Notification.Name?
        let object: Feed?
        let token: ObservationToken
    }

    // Guarantees: Observers of a post that are called on the posting thread are called in the order in which they were registered.
    @Test(arguments: 0..<50 as Range<UInt64>) func `observers that match are called in order of registration`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let center = NotificationCenter()
        let log = Log<Int>()
        let names: [Notification.Name] = [.a, .b, .c]
        let feeds = [Feed(), Feed()]
        var observed: [Observed] = []
        for id in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                // Each name and nil are equally likely, and so are each object and nil.
                let name = ([nil] + names).randomElement(using: &random) ?? nil
                let object = ([nil] + feeds).randomElement(using: &random) ?? nil
                let token = center.addObserver(forName: name, object: object) { _ in log.add(id) }
                observed.append(Observed(id: id, name: name, object: object, token: token))
            case 2:
                guard let index = observed.indices.randomElement(using: &random) else { continue }
                observed.remove(at: index).token.remove()
            default:
                let name = names.randomElement(using: &random) ?? .a
                let object = ([nil] + feeds).randomElement(using: &random) ?? nil
                let before = log.entries.count
                center.post(name: name, object: object)
                let matching = observed.filter {
                    ($0.name == nil || $0.name == name) && ($0.object == nil || $0.object === object)
                }
                #expect(Array(log.entries[before...]) == matching.map(\.id))
            }
        }
    }

    @Test func `a handler that is registered twice is called twice`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let handler = { @Sendable (note: Notification) in log.add(note.text) }
        let tokens = [
            center.addObserver(forName: .a, using: handler), center.addObserver(forName: .a, using: handler),
        ]
        center.post(name: .a)
        #expect(log.entries == ["a", "a"])
        tokens[0].remove()
        center.post(name: .a)
        #expect(log.entries == ["a", "a", "a"])
        tokens[1].remove()
    }

    @Test func `a post inside an observer has called all observers before it returns`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let tokens = [
            center.addObserver(forName: .a) { _ in
                log.add("outer begins")
                center.post(name: .b)
                log.add("outer ends")
            },
            center.addObserver(forName: .b) { _ in log.add("inner") },
            center.addObserver(forName: nil) { note in log.add("every \(note.text)") },
        ]
        center.post(name: .a)
        #expect(log.entries == ["outer begins", "inner", "every b", "outer ends", "every a"])
        for token in tokens { token.remove() }
    }

    @Test func `an observer may post what it observes`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        let token = center.addObserver(forName: .a) { note in
            guard let depth = note.userInfo["depth"] as? Int, depth < 100 else { return }
            log.add(depth)
            center.post(name: .a, userInfo: ["depth": depth + 1])
        }
        center.post(name: .a, userInfo: ["depth": 0])
        #expect(log.entries == Array(0..<100))
        token.remove()
    }

    // Guarantees: An observer that is registered during a post is not called for it.
    @Test(arguments: [Notification.Name.a, nil])
    func `an observer registered during a post is called for the next post only`(name: Notification.Name?) {
        let center = NotificationCenter()
        let log = Log<String>()
        let added = Log<ObservationToken>()
        let token = center.addObserver(forName: .a) { _ in
            log.add("first")
            if added.entries.isEmpty {
                added.add(center.addObserver(forName: name) { _ in log.add("added") })
            }
        }
        center.post(name: .a)
        #expect(log.entries == ["first"])
        center.post(name: .a)
        #expect(log.entries == ["first", "first", "added"])
        token.remove()
    }

    @Test(arguments: [Notification.Name.a, nil])
    func `an observer removed during a post before its call is not called`(name: Notification.Name?) {
        let center = NotificationCenter()
        let log = Log<Int>()
        let tokens = Log<ObservationToken>()
        for id in 0..<8 {
            // If the name is nil, half of the observers observe every name.
            let own = id.isMultiple(of: 2) ? name : .a
            tokens.add(
                center.addObserver(forName: own) { _ in
                    log.add(id)
                    for token in tokens.entries { token.remove() }
                })
        }
        center.post(name: .a)
        #expect(log.entries == [0])
    }

    @Test func `a post from a deinit reaches the observers`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let token = center.addObserver(forName: .a) { note in log.add(note.text) }
        do {
            let dying = Canary { center.post(Notification(.a, "last words")) }
            dying.sing()
        }
        #expect(log.entries == ["last words"])
        token.remove()
    }

    // Guarantees: Observers of a post that are called on the posting thread are called in the order in which they were registered.
    @Test func `observers are called on the posting thread, whichever thread registered them`() throws {
        let center = NotificationCenter()
        let log = Log<Bool>()
        let registering = try RunLoopThread(name: "registers")
        let token = try onLoopThread { posting in
            let token = try registering.runLoop.performAndWait {
                center.addObserver(forName: .a) { _ in
                    log.add(posting.isCurrent && !registering.runLoop.isCurrent)
                }
            }
            center.post(name: .a)
            return token
        }
        #expect(log.entries == [true])
        token.remove()
        registering.stop()
        registering.join()
    }

    // Guarantees: No handler is called while the library holds a lock.
    @Test func `no lock is held while an observer is called`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let other = try RunLoopThread(name: "other")
        let victim = center.addObserver(forName: .b) { _ in log.add("removed, and called") }
        let token = center.addObserver(forName: .a) { note in
            if note.text == "from the other" { return log.add(note.text) }
            let done = Gate()
            other.runLoop.perform {
                // Calls for the same name and center, on a thread for which the observer waits.
                let added = center.addObserver(forName: .a) { _ in log.add("added") }
                let everyName = center.addObserver(forName: nil) { _ in log.add("of every name") }
                victim.remove()
                center.post(Notification(.a, "from the other"))
                added.remove()
                everyName.remove()
                done.open()
            }
            #expect(done.wait())
        }
        center.post(name: .a)
        center.post(name: .b)
        #expect(log.entries == ["from the other", "added", "of every name"])
        token.remove()
        other.stop()
        other.join()
    }

    @Test func `objects that handlers hold may use the center when they are destroyed`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let tokens = Log<ObservationToken>()
        for id in 0..<3 {
            let canary = Canary {
                log.add("\(id) gone")
                // Posts, registers and removes, for the same name and center.
                center.post(Notification(.a, "last words of \(id)"))
                center.addObserver(forName: .a) { _ in }.remove()
                for token in tokens.entries { token.remove() }
            }
            tokens.add(
                center.addObserver(forName: .a) { [canary] note in
                    canary.sing()
                    log.add("\(id) hears \(note.text)")
                })
        }
        tokens.entries[0].remove()
        #expect(
            log.entries == [
                "0 gone", "1 hears last words of 0", "2 hears last words of 0", "1 gone",
                "2 hears last words of 1",
                "2 gone",
            ])
    }

    @Test func `an observer that runs the loop sees posts made meanwhile before it continues`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let tokens = [
                center.addObserver(forName: .a) { note in
                    log.add("first \(note.text) begins")
                    if note.text == "outer" {
                        loop.perform { center.post(Notification(.a, "inner")) }
                        loop.run(in: .default)
                    }
                    log.add("first \(note.text) ends")
                },
                center.addObserver(forName: .a) { log.add("second \($0.text)") },
            ]
            center.post(Notification(.a, "outer"))
            for token in tokens { token.remove() }
        }
        #expect(
            log.entries == [
                "first outer begins", "first inner begins", "first inner ends", "second inner",
                "first outer ends",
                "second outer",
            ])
    }

    @Test func `centers are independent of each other`() {
        let log = Log<String>()
        let center = NotificationCenter()
        let other = NotificationCenter()
        let token = center.addObserver(forName: nil) { note in log.add(note.text) }
        other.post(name: .a)
        NotificationCenter.default.post(name: Notification.Name("centers know nothing of each other"))
        center.post(name: .b)
        #expect(log.entries == ["b"])
        token.remove()
    }

    @Test func `observers that were registered and removed leave nothing behind in the center`() {
        let center = NotificationCenter()
        var tokens = (0..<1_000).map { number in
            center.addObserver(forName: number.isMultiple(of: 2) ? .a : nil) { _ in }
        }
        // Every third observer stays for a while, so that removals occur between others.
        for token in tokens.enumerated().filter({ $0.offset % 3 > 0 }) { token.element.remove() }
        let kept = center.names.snapshot(for: .a)?.count ?? 0
        #expect(kept < 2 * 167 + 2)
        for token in tokens { token.remove() }
        tokens = []
        #expect(center.names.snapshot(for: .a) == nil)
        #expect(center.everyName.snapshot(for: .init()) == nil)
    }
}

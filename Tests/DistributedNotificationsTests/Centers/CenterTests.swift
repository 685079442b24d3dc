import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications

struct CenterTests {
    private func centers(
        _ hub: InProcessNotificationHub, _ options: DistributedNotificationCenter.Options = .init()
    ) throws -> (DistributedNotificationCenter, DistributedNotificationCenter) {
        (
            try DistributedNotificationCenter(hub.engine, options: options),
            try DistributedNotificationCenter(hub.engine, options: options)
        )
    }

    @Test func `a notification arrives with its name, sender, payload, number and poster`() throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        try withWorker { loop in
            let log = EventLog()
            let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            #expect(observation.waitUntilConfirmed())
            try poster.post("a", sender: "s", payload: [1, 2, 3])
            guard case .notification(let note)? = log.wait(for: 1).first else {
                Issue.record("no notification")
                return
            }
            #expect(note.name == "a" && note.sender == "s" && note.payload == [1, 2, 3] && note.number == 1)
            #expect(note.poster == poster.poster && note.mergedCount == 0 && note.timeSince1970 > .zero)
        }
    }

    // Guarantees: An observer gets the notifications of one poster with one name and sender in order, each once.
    @Test func `an observer gets the names and senders that it asks for, in order`() throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        try withWorker { loop in
            let named = EventLog()
            let sent = EventLog()
            let all = EventLog()
            let observations = [
                observer.addObserver(forName: "a", on: loop) { named.append($0) },
                observer.addObserver(forName: "a", sender: "s", on: loop) { sent.append($0) },
                observer.addObserver(forName: nil, on: loop) { all.append($0) },
            ]
            defer { withExtendedLifetime(observations) {} }
            for observation in observations { #expect(observation.waitUntilConfirmed()) }
            try poster.post("a")
            try poster.post("b", sender: "s")
            try poster.post("a", sender: "s")
            #expect(all.wait(for: 3).map(\.short) == ["1", "2", "3"])
            #expect(named.wait(for: 2).map(\.short) == ["1", "3"])
            #expect(sent.wait(for: 1).map(\.short) == ["3"])
        }
    }

    // Guarantees: After an observation was removed on the thread of its loop, its handler is not called.
    @Test func `an observer's handler is not called after its removal on its loop`() throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        try withWorker { loop in
            let log = EventLog()
            let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            let other = EventLog()
            let second = observer.addObserver(forName: "a", on: loop) { other.append($0) }
            defer { withExtendedLifetime(second) {} }
            #expect(observation.waitUntilConfirmed() && second.waitUntilConfirmed())
            try loop.performAndWait { observation.remove() }
            try poster.post("a")
            #expect(other.wait(for: 1).map(\.short) == ["1"])
            try loop.performAndWait {}
            #expect(log.events.isEmpty)
        }
    }

    /// After its loop has ended, an observer's lane removes itself when a notification comes.
    @Test func `an observation whose loop has ended releases its handler when it is removed`() throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        let alive = Shared()
        let thread = try RunLoopThread(name: "observer")
        var observation: DistributedObservation? = observer.addObserver(forName: "a", on: thread.runLoop) {
            [counted = Counted(alive)] _ in withExtendedLifetime(counted) {}
        }
        #expect(observation?.waitUntilConfirmed() == true)
        thread.stop()
        thread.join()
        try poster.post("a")
        waitUntil("the lane has removed itself") { observation?.lane.isRemoved == true }
        observation = nil
        waitUntil("the handler is released") { alive.count == 0 }
    }

    @Test func `a crash of the hub alone loses nothing, delivers nothing twice, and makes no gap`() throws {
        let hub = InProcessNotificationHub()
        defer { withExtendedLifetime(hub) {} }
        let (poster, observer) = try centers(hub)
        defer { withExtendedLifetime((poster, observer)) {} }
        try withWorker { loop in
            let log = EventLog()
            let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            #expect(observation.waitUntilConfirmed())
            for number in 1...2_000 {
                try poster.post("a", whenFull: .block(atMost: .seconds(60)))
                if number % 500 == 250 { hub.crash() }
            }
            #expect(log.wait(for: 2_000).map(\.short) == (1...2_000).map { "\($0)" })
        }
    }

    // Guarantees: A slow observer delays neither posters nor other observers, and a stopped process delays posters for at most a
    // second.
    @Test func `a slow observer gets a gap of what its capacity has dropped, in its place`() throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        try withWorker { loop in
            let log = EventLog()
            let reached = Gate()
            let goOn = Gate()
            let observation = observer.addObserver(forName: "a", on: loop, capacity: .bounded(2, .dropOldest))
            {
                log.append($0)
                if $0.short == "1" {
                    reached.open()
                    _ = goOn.wait()
                }
            }
            defer { withExtendedLifetime(observation) {} }
            let last = EventLog()
            let marker = try RunLoopThread(name: "marker")
            defer { marker.stop() }
            let second = observer.addObserver(forName: "a", on: marker.runLoop) { last.append($0) }
            defer { withExtendedLifetime(second) {} }
            #expect(observation.waitUntilConfirmed() && second.waitUntilConfirmed())
            try poster.post("a")
            #expect(reached.wait())
            for _ in 2...6 { try poster.post("a") }
            #expect(last.wait(for: 6).count == 6)
            goOn.open()
            #expect(log.wait(for: 4).map(\.short) == ["1", "gap 2-4 observerBehind", "5", "6"])
            #expect(observation.statistics.dropped == 3 && observation.statistics.delivered == 3)
        }
    }

    @Test func `a task awaits notifications and gaps, and ends with the center`() async throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        var iterator = observer.notifications(named: "a", capacity: .unlimited).makeAsyncIterator()
        #expect(await iterator.confirmed())
        try poster.post("a", payload: [7])
        #expect(await iterator.next()?.short == "1")
        observer.invalidate()
        #expect(await iterator.next() == nil)
    }

    @Test func `a post is accepted, and settled once every observer's process has it`() async throws {
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        var iterator = observer.notifications(named: "a", capacity: .unlimited).makeAsyncIterator()
        #expect(await iterator.confirmed())
        let accepted = try await poster.post("a", until: .accepted)
        let settled = try await poster.post("a", until: .settled)
        #expect(accepted == 1 && settled == 2)
        #expect(poster.statistics.kept == 0 && poster.statistics.accepted == 2)
        #expect(await iterator.next()?.short == "1")
    }

    @Test func `values travel as JSON, and what is not the JSON of the type is an error`() async throws {
        struct Change: Codable, Equatable { var user: Int }
        let (poster, observer) = try centers(InProcessNotificationHub())
        defer { withExtendedLifetime((poster, observer)) {} }
        var iterator = observer.notifications(named: "a", capacity: .unlimited).makeAsyncIterator()
        #expect(await iterator.confirmed())
        try poster.post("a", encoding: Change(user: 42))
        try poster.post("a", payload: [1])
        guard case .notification(let good)? = await iterator.next() else { return #expect(Bool(false)) }
        #expect(try good.decode(Change.self) == Change(user: 42))
        guard case .notification(let bad)? = await iterator.next() else { return #expect(Bool(false)) }
        do {
            _ = try bad.decode(Change.self)
            Issue.record("it is no change")
        } catch {
            #expect(error.reason == .coding && !error.details.isEmpty)
        }
    }

    // Guarantees: A post that is refused takes no number, and nothing of it is sent.
    @Test func `what cannot be posted is an error, and takes no number`() throws {
        var options = DistributedNotificationCenter.Options()
        options.payloadLimit = 4
        options.topicLimit = 1
        let center = try DistributedNotificationCenter(InProcessNotificationHub().engine, options: options)
        defer { withExtendedLifetime(center) {} }
        func post(_ payload: [UInt8]) throws { try center.post("a", payload: payload) }
        do { try post([1, 2, 3, 4, 5]) } catch DistributedNotificationError.Reason.ended {
            Issue.record("the center has not ended")
        } catch DistributedNotificationError.Reason.tooLarge {}
        let large = #expect(throws: DistributedNotificationError.self) { try post([1, 2, 3, 4, 5]) }
        #expect(large?.reason == .tooLarge && large?.limit == 4)
        #expect(throws: DistributedNotificationError(.malformed, details: "the name is empty")) {
            try center.post("")
        }
        #expect(throws: DistributedNotificationError.self) {
            try center.post("a", sender: String(repeating: "x", count: 256))
        }
        #expect(try center.post("a") == 1)
        #expect(throws: DistributedNotificationError(.tooManyTopics, limit: 1)) { try center.post("b") }
        #expect(try center.post("a") == 2)
        center.invalidate()
        #expect(throws: DistributedNotificationError(.ended)) { try center.post("a") }
    }

    @Test
    func
        `whatever threads suspend and observe at the same time, the last suspension is that of all observers`()
        throws
    {
        let center = try DistributedNotificationCenter(InProcessNotificationHub().engine)
        defer { center.invalidate() }
        for round in 0..<1_000 {
            let observations = Log<DistributedObservation>()
            let barrier = Shared()
            let threads = try Threads(3) { index in
                barrier.increment()
                while barrier.count < 3 {}
                for turn in 0..<16 {
                    if index < 2 {
                        center.isSuspended = (turn + index) % 2 == 0
                    } else {
                        observations.add(center.addObserver(forName: "a", on: .main) { _ in })
                    }
                }
            }
            try threads.join()
            let expected = center.isSuspended
            #expect(observations.entries.allSatisfy { $0.lane.isSuspended == expected }, "round \(round)")
            for observation in observations.entries { observation.remove() }
        }
    }
}

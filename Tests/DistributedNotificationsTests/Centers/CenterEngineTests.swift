import RunLoops
import TestSupport
import Testing

@testable import DistributedNotifications

/// A center and an engine that a test controls.
struct CenterEngineTests {
    /// An engine that has no room for posts until the test makes some.
    private final class FullEngine: Engine {
        private weak var sink: (any EngineSink)?
        let announced: Log<Announcement>
        var hasRoom = false
        var located: [[PosterID]] = []

        init(_ announced: Log<Announcement>) { self.announced = announced }

        func start(_ start: EngineStart, _ sink: any EngineSink) {
            self.sink = sink
            sink.state(.connected, epoch: Epoch(high: 0, low: 1))
        }
        func publish(_ post: Post) -> Handed { hasRoom ? .taken : .full }
        func announce(_ announcement: Announcement) { announced.add(announcement) }
        func subscribe(_ subscriptions: [Subscription]) {}
        func unsubscribe(_ numbers: [UInt64]) {}
        func locate(_ posters: [PosterID]) { located.append(posters) }
        func confirm(_ batch: UInt64, credits: Int) {}
        func end(lastNumber: UInt64) {}

        func deliver(_ items: [EngineBatch.Item]) { sink?.deliver(EngineBatch(number: 1, items: items)) }

        func accept(_ number: UInt64, settles: Bool = true) {
            sink?.acknowledged(accepted: number, settled: settles ? number : 0, exempt: number)
        }

        func makeRoom() {
            hasRoom = true
            sink?.room()
        }
    }

    private func center(
        _ announced: Log<Announcement>, _ made: LoopConfined<FullEngine>, stall: Duration = .seconds(5)
    ) throws -> DistributedNotificationCenter {
        var options = DistributedNotificationCenter.Options()
        options.keptPostLimit = 2
        options.stallTimeout = stall
        let engine = DistributedNotificationEngine(name: "full") { _ in
            let engine = FullEngine(announced)
            made.value = engine
            return engine
        }
        return try DistributedNotificationCenter(engine, options: options)
    }

    /// Runs a closure on the loop of a center, after everything that was sent there before.
    private func onLoop(_ center: DistributedNotificationCenter, _ body: @escaping @Sendable () -> Void) {
        let done = Gate()
        center.state.loop.performInEveryMode {
            body()
            done.open()
        }
        #expect(done.wait())
    }

    @Test func `posts that are dropped while the engine has no room are announced together`() throws {
        let (announced, made) = (Log<Announcement>(), LoopConfined<FullEngine>())
        let center = try center(announced, made)
        for _ in 1...1_000 {
            try center.post("a", whenFull: .dropOldest)
            onLoop(center) {}
        }
        // The opening announcement, and at most one before the first post found no room.
        #expect(announced.entries.count <= 2)
        onLoop(center) { made.value?.makeRoom() }
        onLoop(center) {}
        #expect(announced.entries.last?.horizons.map(\.number) == [998])
        center.invalidate()
    }

    @Test func `a caller that gives up waiting is forgotten`() async throws {
        let center = try center(Log<Announcement>(), LoopConfined<FullEngine>())
        for _ in 1...2 { try center.post("a") }
        for _ in 1...20 {
            #expect(throws: DistributedNotificationError(.full)) {
                try center.post("a", whenFull: .block(atMost: .milliseconds(1)))
            }
        }
        await #expect(throws: DistributedNotificationError(.timedOut)) {
            try await center.post("a", until: .accepted, before: .now)
        }
        #expect(center.state.waiterCount == 0)
        #expect(try center.post("a", whenFull: .dropOldest) == 3)
        let posted = try center.state.post(
            Topic(name: "a", sender: nil), [], isImmediate: false, dropsOldest: true, waits: false,
            until: .settled)
        guard case .taken(_, let stage?) = posted else { return #expect(Bool(false)) }
        #expect(center.state.waiterCount == 1)
        center.state.stopWaiting(for: stage)
        #expect(center.state.waiterCount == 0)
        center.invalidate()
    }

    @Test func `a post that another drops before it is accepted is not taken for settled`() async throws {
        let center = try center(Log<Announcement>(), LoopConfined<FullEngine>())
        let topic = Topic(name: "a", sender: nil)
        let posted = try center.state.post(
            topic, [], isImmediate: false, dropsOldest: false, waits: true, until: .settled)
        guard case .taken(1, let stage?) = posted else { return #expect(Bool(false)) }
        for _ in 1...2 { try center.post("a", whenFull: .dropOldest) }
        let error = await stage.value(
            before: .never, timedOut: DistributedNotificationError(.timedOut),
            cancelled: DistributedNotificationError(.cancelled)
        ) {}
        #expect(error?.reason == .dropped)
        center.invalidate()
    }

    @Test func `a post that the engine has accepted is settled, not dropped, when the oldest ones make room`()
        async throws
    {
        let made = LoopConfined<FullEngine>()
        let center = try center(Log<Announcement>(), made)
        let topic = Topic(name: "a", sender: nil)
        onLoop(center) { made.value?.makeRoom() }
        func post() throws -> OneShot<DistributedNotificationError?>? {
            let posted = try center.state.post(
                topic, [], isImmediate: false, dropsOldest: false, waits: true, until: .settled)
            if case .taken(_, let stage) = posted { return stage } else { return nil }
        }
        let accepted = try #require(try post())
        onLoop(center) { made.value?.accept(1, settles: false) }
        let lost = try #require(try post())
        for _ in 3...4 { try center.post("a", whenFull: .dropOldest) }
        for (stage, result) in [(accepted, nil), (lost, .dropped)]
            as [(_, DistributedNotificationError.Reason?)]
        {
            let error = await stage.value(
                before: .never, timedOut: DistributedNotificationError(.timedOut),
                cancelled: DistributedNotificationError(.cancelled)
            ) {}
            #expect(error?.reason == result)
        }
        center.invalidate()
    }

    @Test func `the time without an acknowledgement begins with the first post that has none`() async throws {
        let made = LoopConfined<FullEngine>()
        let center = try center(Log<Announcement>(), made, stall: .milliseconds(200))
        onLoop(center) { made.value?.makeRoom() }
        try center.post("a")
        onLoop(center) { made.value?.accept(1) }
        let start = ContinuousClock.now
        try center.post("a")
        for await case .stalled(let since) in center.connectionStates {
            #expect(since >= start)
            break
        }
        center.invalidate()
    }

    @Test func `a center asks again for the posters that it knows, when the engine has forgotten some`()
        throws
    {
        let made = LoopConfined<FullEngine>()
        let center = try center(Log<Announcement>(), made)
        let known = PosterID(high: 0, low: 7)
        try withWorker { loop in
            let log = EventLog()
            let observation = center.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            let baseline = Baseline(subscription: 1, marks: [], position: Position(low: 1))
            onLoop(center) { made.value?.deliver([.present(known), .baseline(baseline)]) }
            #expect(observation.waitUntilConfirmed())
            let forgetful = Baseline(
                subscription: 1, marks: [], position: Position(low: 2), hasForgotten: true)
            onLoop(center) {
                #expect(made.value?.located == [])
                made.value?.deliver([.baseline(forgetful)])
                #expect(made.value?.located == [[known]])
            }
            #expect(log.wait(for: 1).map(\.short) == ["gap 1-? notKept"])
        }
        center.invalidate()
    }
}

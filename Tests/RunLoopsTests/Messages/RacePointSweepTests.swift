#if DEBUG
    import TestExpectations
    import TestSupport
    import Testing

    @testable import RunLoops

    /// The actions of other threads, inserted at every pair of race points of a loop that is about to sleep.
    ///
    /// The effect on the loop does not depend on the thread that acts. So the actions run on the loop's own thread, at the race
    /// point.
    @Suite struct RacePointSweepTests {
        /// An action of another thread.
        enum Event: CaseIterable {
            case perform, send, ring, signal, wakeUp
            /// Release the last send right of the signal port.
            case dropRight
        }

        // Guarantees: If a block or message is given to a loop that is about to sleep, the loop does not sleep, or it is woken.
        @Test func `any two events at any two race points are served, and the loop sleeps on`()
            throws
        {
            try onLoopThread { loop in
                loop.waitPolicy = .park
                let stepCount = try Stage(loop).play(nil, .ring, nil, .ring).stepCount
                #expect(stepCount > 10)
                for (first, second) in pairs(Event.allCases) {
                    for early in 0..<stepCount {
                        for late in early..<2 * stepCount {
                            let outcome = try Stage(loop).play(early, first, late, second)
                            if outcome.failures.isEmpty { continue }
                            Issue.record(
                                "\(first) at step \(early), \(second) at \(late): \(outcome.failures)")
                            return
                        }
                    }
                }
            }
        }

        private func pairs(_ events: [Event]) -> [(Event, Event)] {
            events.flatMap { first in events.map { (first, $0) } }
        }
    }

    /// A loop with one input of each kind, and a record of their calls.
    private final class Stage: RacePointWatcher, @unchecked Sendable {
        struct Outcome {
            var stepCount = 0
            var failures: [String] = []
        }

        private let loop: RunLoop
        private let port = Port<Int>()
        private let bell = Port<Void>()
        private var source: ManualSource?
        private var right: SendRight<Void>?

        /// The number of times that each action was done, and the number of times that the loop has served it.
        private var done: [RacePointSweepTests.Event: Int] = [:]
        private var seen: [RacePointSweepTests.Event: Int] = [:]

        private var plan: [(step: Int, event: RacePointSweepTests.Event)] = []
        private var stepCount = 0
        private var stepsToSleep: Int?
        /// True while no action is planned, and the race points up to the first sleep are counted.
        private var isMeasured = false

        init(_ loop: RunLoop) {
            self.loop = loop
            super.init()
            loop.add(port, forMode: .default) { [unowned self] _ in saw(.send) }
            loop.add(bell, forMode: .default) { [unowned self] in saw(.ring) }
            let source = ManualSource { [unowned self] in saw(.signal) }
            loop.add(source, forMode: .default)
            self.source = source
            bell.onNoSenders { [unowned self] _ in saw(.dropRight) }
            right = bell.makeSendRight()
        }

        /// Rings the bell, so that the loop has work, and runs the loop until both actions are done and the loop is stopped.
        func play(
            _ early: Int?, _ first: RacePointSweepTests.Event, _ late: Int?,
            _ second: RacePointSweepTests.Event
        ) throws -> Outcome {
            if let early, let late { plan = [(early, first), (late, second)] }
            isMeasured = plan.isEmpty
            try bell.send()
            let result = watch { loop.run(in: .default, until: .hang) }
            var outcome = Outcome(stepCount: stepsToSleep ?? 0)
            if result != .stopped { outcome.failures.append("the stop was lost") }
            loop.settle()
            for (event, count) in done {
                let times = seen[event] ?? 0
                if times < count { outcome.failures.append("\(event) was lost") }
                if times > count && !merges(event) { outcome.failures.append("\(event) came twice") }
            }
            // Every input must still work.
            let before = seen
            try bell.send()
            try port.send(0)
            source?.signal()
            loop.settle()
            for event in [RacePointSweepTests.Event.ring, .send, .signal] where seen[event] == before[event] {
                outcome.failures.append("\(event) is not served any more")
            }
            finish()
            return outcome
        }

        private func finish() {
            loop.remove(port, forMode: .default)
            loop.remove(bell, forMode: .default)
            source?.invalidate()
            source = nil
            right = nil
        }

        override func threadIs(at point: RacePoint) {
            defer { stepCount += 1 }
            if point == .sleeps && stepsToSleep == nil { stepsToSleep = stepCount + 1 }
            pause {
                while let next = plan.first, next.step == stepCount || point == .sleeps {
                    plan.removeFirst()
                    bring(next.event)
                    if plan.isEmpty { stop() }
                }
                if isMeasured && point == .sleeps { stop() }
            }
        }

        /// Stops the loop through its mailbox, as another thread would.
        private func stop() { loop.handle.request(.stop) }

        private func merges(_ event: RacePointSweepTests.Event) -> Bool { event == .ring || event == .signal }

        private func bring(_ event: RacePointSweepTests.Event) {
            switch event {
            case .perform:
                // Through the mailbox, as another thread would, and not through the loop's own list.
                let node = SlabCache.takeNode()
                node.kind = .block
                let body = { [unowned self] in saw(.perform) }
                node.store(BlockMessage(body: body, modes: nil, origin: SourceLocation(#fileID, #line)))
                if loop.handle.send(Mailbox.Chain(node)) { done[event, default: 0] += 1 }
            case .send:
                done[event, default: 0] += 1
                do { try port.send(1) } catch { Issue.record(error) }
            case .ring:
                done[event] = (seen[event] ?? 0) + 1
                do { try bell.send() } catch { Issue.record(error) }
            case .signal:
                done[event] = (seen[event] ?? 0) + 1
                source?.signal()
            case .wakeUp: loop.wakeUp()
            case .dropRight:
                if right == nil { return }
                done[event] = 1
                right = nil
            }
        }

        private func saw(_ event: RacePointSweepTests.Event) { seen[event, default: 0] += 1 }
    }
#endif

import Notifications
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The modes in which a queue posts.
@Suite struct NotificationQueueModesTests {
    private static let custom = RunLoop.Mode("custom")
    private static let other = RunLoop.Mode("other")

    // Guarantees: Notifications that are enqueued in one style, for the same modes, are posted in that order.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a run posts the notifications for its mode, in order, and leaves the rest`(seed: UInt64) throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            let recorder = Recorder()
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let everyMode: [RunLoop.Mode] = [.default, Self.custom, Self.other]
            var common: Set<RunLoop.Mode> = [.default]
            var waiting: [(text: String, modes: [RunLoop.Mode])] = []
            for number in 0..<100 {
                if Int.random(in: 0..<4, using: &random) > 0 {
                    let modes = (everyMode + [.common]).shuffled(using: &random)
                        .prefix(Int.random(in: 1..<3, using: &random))
                    queue.enqueue(
                        Notification(.a, "\(number)"), postingStyle: .asap, coalesceMask: [],
                        forModes: Array(modes))
                    waiting.append(("\(number)", Array(modes)))
                    continue
                }
                if number == 50 {
                    loop.addCommonMode(Self.custom)
                    common.insert(Self.custom)
                }
                let mode = everyMode.randomElement(using: &random) ?? .default
                let posted = recorder.texts.count
                loop.pass(in: mode)
                let isDue = { (modes: [RunLoop.Mode]) in
                    modes.contains(mode) || modes.contains(.common) && common.contains(mode)
                }
                #expect(recorder.texts[posted...] == waiting.filter { isDue($0.modes) }.map(\.text)[...])
                waiting.removeAll { isDue($0.modes) }
            }
        }
    }

    @Test func `without a list of modes the default mode is used`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            loop.addCommonMode(Self.custom)
            let queue = NotificationQueue(notificationCenter: recorder.center)
            queue.enqueue(Notification(.a, "nil"), postingStyle: .asap)
            queue.enqueue(Notification(.b, "common"), postingStyle: .asap, forModes: [.common])
            #expect(loop.run(in: Self.custom, until: .hang) == .finished)
            #expect(recorder.texts == ["common"])
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
        #expect(recorder.texts == ["common", "nil"])
    }

    @Test func `a mode that becomes common gets notifications that wait for the common modes`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            queue.enqueue(Notification(.a, "common"), postingStyle: .asap, forModes: [.common])
            #expect(loop.run(in: Self.custom, until: .hang) == .finished)
            #expect(recorder.texts.isEmpty)
            loop.addCommonMode(Self.custom)
            #expect(loop.run(in: Self.custom, until: .hang) == .finished)
        }
        #expect(recorder.texts == ["common"])
    }

    @Test func `idle notifications are posted in their own modes only`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive(.default)
            loop.keepAlive(Self.custom)
            let token = recorder.center.addObserver(forName: nil) { _ in loop.stop() }
            queue.enqueue(Notification(.a, "custom"), postingStyle: .whenIdle, forModes: [Self.custom])
            queue.enqueue(Notification(.b, "default"), postingStyle: .whenIdle)
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(recorder.texts == ["default"])
            #expect(loop.run(in: Self.custom, until: .hang) == .stopped)
            token.remove()
        }
        #expect(recorder.texts == ["default", "custom"])
    }

    @Test func `a now notification is posted only in its modes, or while the loop does not run`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let lists: [(String, [RunLoop.Mode]?)] = [
                ("nil", nil), ("common", [.common]), ("custom", [Self.custom]),
                ("both", [.default, Self.custom]),
            ]
            let enqueueAll = { @Sendable (run: String) in
                for (text, modes) in lists {
                    queue.enqueue(Notification(.a, "\(run): \(text)"), postingStyle: .now, forModes: modes)
                }
            }
            enqueueAll("none")
            for mode in [.default, Self.custom, Self.other] {
                loop.perform(inModes: [mode]) { enqueueAll(mode == .default ? "default" : mode.rawValue) }
                loop.pass(in: mode)
            }
        }
        #expect(
            recorder.texts == [
                "none: nil", "none: common", "none: custom", "none: both", "default: nil", "default: common",
                "default: both", "custom: custom", "custom: both",
            ])
    }

    @Test func `no mode at all is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { _ in
                _ = NotificationQueue.default.enqueue(
                    Notification(name: .a), postingStyle: .asap, forModes: [])
            }
        }
        let message = result?.message ?? ""
        #expect(message.contains("NotificationQueue.enqueue: no mode, so it would never be posted"))
        #expect(message.contains("use nil for the default mode"))
    }
}

import Notifications
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The times at which a queue posts, and the order.
@Suite struct NotificationQueueTests {
    // Guarantees: Notifications that are enqueued in one style, for the same modes, are posted in that order.
    @Test func `notifications are posted in the order in which they were enqueued`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            for number in 0..<100 {
                queue.enqueue(Notification(.a, "\(number)"), postingStyle: .asap, coalesceMask: [])
            }
            loop.pass()
        }
        #expect(recorder.texts == (0..<100).map(String.init))
    }

    // Guarantees: A loop does not sleep while an `asap` or `whenIdle` notification waits in the mode that runs.
    @Test func `asap is at the end of the pass, before the loop sleeps`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive()
            loop.observe(.beforeWaiting) {
                recorder.log.add("about to sleep")
                loop.stop()
            }
            loop.perform {
                queue.enqueue(Notification(.a, "asap"), postingStyle: .asap)
                recorder.log.add("block")
            }
            loop.perform { recorder.log.add("next block") }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
        }
        #expect(recorder.texts == ["block", "next block", "asap", "about to sleep"])
    }

    @Test func `an asap notification does not wait until a busy loop sleeps`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            @Sendable func work(_ left: Int) {
                recorder.log.add("block \(left)")
                queue.enqueue(Notification(.a, "asap \(left)"), postingStyle: .asap)
                if left > 1 { loop.perform { work(left - 1) } }
            }
            loop.perform { work(3) }
            loop.run()
        }
        #expect(recorder.texts == ["block 3", "asap 3", "block 2", "asap 2", "block 1", "asap 1"])
    }

    @Test func `a notification that a source or timer enqueues is posted before the next pass`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.observe(.beforeTimers) { recorder.log.add("pass") }
            loop.add(
                Timer(timeInterval: .zero, repeats: false) { _ in
                    recorder.log.add("timer")
                    queue.enqueue(Notification(.a, "asap"), postingStyle: .asap)
                }, forMode: .default)
            loop.run()
        }
        // The timer can come due in a later pass.
        let texts = Array(recorder.texts.drop { $0 != "timer" })
        #expect(texts == ["timer", "asap"])
    }

    // Guarantees: A loop does not sleep while an `asap` or `whenIdle` notification waits in the mode that runs.
    @Test func `idle is when the loop is about to sleep, and not while it is busy`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive()
            loop.observe(.beforeWaiting) { recorder.log.add("about to sleep") }
            let token = recorder.center.addObserver(forName: .a) { _ in loop.stop() }
            queue.enqueue(Notification(.a, "idle"), postingStyle: .whenIdle)
            @Sendable func work(_ left: Int) {
                recorder.log.add("block \(left)")
                if left > 1 { loop.perform { work(left - 1) } }
            }
            loop.perform { work(3) }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            token.remove()
        }
        #expect(recorder.texts == ["block 3", "block 2", "block 1", "about to sleep", "idle"])
    }

    @Test func `a run that ends does not post idle notifications`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            queue.enqueue(Notification(.a, "idle"), postingStyle: .whenIdle)
            #expect(loop.run(in: .default) == .finished)
            let source = ManualSource { recorder.log.add("source") }
            loop.add(source, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            loop.stop()
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            loop.perform { loop.stop() }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            source.signal()
            #expect(
                loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(recorder.texts == ["source"])
            let token = recorder.center.addObserver(forName: .a) { _ in loop.stop() }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            token.remove()
        }
        #expect(recorder.texts == ["source", "idle"])
    }

    // Guarantees: In one pass, `asap` notifications that wait when the handlers have been called are posted before `whenIdle` ones.
    @Test func `asap is before idle, whatever was enqueued first`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive()
            let tokens = [
                recorder.center.addObserver(forName: .b) { _ in
                    queue.enqueue(Notification(.c, "idle 2"), postingStyle: .whenIdle)
                    queue.enqueue(Notification(.a, "asap 2"), postingStyle: .asap)
                },
                recorder.center.addObserver(forName: .c) { _ in loop.stop() },
            ]
            queue.enqueue(Notification(.b, "idle 1"), postingStyle: .whenIdle)
            queue.enqueue(Notification(.a, "asap 1"), postingStyle: .asap)
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            for token in tokens { token.remove() }
        }
        #expect(recorder.texts == ["asap 1", "idle 1", "asap 2", "idle 2"])
    }

    @Test func `notifications that observers enqueue go to the next round, after the blocks`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive()
            let token = recorder.center.addObserver(forName: nil) { note in
                switch note.text {
                case "asap 1", "idle 1":
                    let style: NotificationQueue.PostingStyle = note.name == .a ? .asap : .whenIdle
                    queue.enqueue(
                        Notification(note.name, "\(note.text) again"), postingStyle: style, coalesceMask: [])
                    loop.perform { recorder.log.add("block") }
                case "idle 1 again": loop.stop()
                default: break
                }
            }
            for text in ["asap 1", "asap 2"] {
                queue.enqueue(Notification(.a, text), postingStyle: .asap, coalesceMask: [])
            }
            for text in ["idle 1", "idle 2"] {
                queue.enqueue(Notification(.b, text), postingStyle: .whenIdle, coalesceMask: [])
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            token.remove()
        }
        #expect(
            recorder.texts == [
                "asap 1", "asap 2", "block", "asap 1 again", "idle 1", "idle 2", "block", "idle 1 again",
            ])
    }

    // Guarantees: An observer may enqueue, dequeue, and run the loop.
    @Test(arguments: [NotificationQueue.PostingStyle.asap, .whenIdle])
    func `an observer may enqueue in every style, and dequeue notifications behind it`(
        style: NotificationQueue.PostingStyle
    ) throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            loop.keepAlive()
            let tokens = [
                recorder.center.addObserver(forName: .a) { note in
                    guard note.text == "1" else { return }
                    queue.dequeueNotifications(matching: Notification(name: .b), coalesceMask: .onName)
                    for next in [NotificationQueue.PostingStyle.whenIdle, .asap, .now] {
                        queue.enqueue(Notification(.c, "\(next)"), postingStyle: next, coalesceMask: [])
                    }
                },
                recorder.center.addObserver(forName: .init("end")) { _ in loop.stop() },
            ]
            for (name, text) in [(Notification.Name.a, "1"), (.b, "taken out"), (.a, "2")] {
                queue.enqueue(Notification(name, text), postingStyle: style, coalesceMask: [])
            }
            // This notification is last, and is posted when the loop is idle again.
            queue.enqueue(Notification(name: .b), postingStyle: .whenIdle, coalesceMask: [])
            let last = recorder.center.addObserver(forName: .c) { note in
                if note.text == "whenIdle" { loop.stop() }
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            for token in tokens + [last] { token.remove() }
        }
        #expect(recorder.texts == ["1", "now", "2", "asap", "whenIdle"])
    }

    // Guarantees: An observer may enqueue, dequeue, and run the loop.
    @Test func `a run inside an observer posts the next notification`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let token = recorder.center.addObserver(forName: .b) { _ in
                loop.pass()
                recorder.log.add("run inside has ended")
            }
            queue.enqueue(Notification(.a, "1"), postingStyle: .asap, coalesceMask: [])
            queue.enqueue(Notification(.b, "2"), postingStyle: .asap, coalesceMask: [])
            queue.enqueue(Notification(.a, "3"), postingStyle: .asap, coalesceMask: [])
            queue.enqueue(Notification(.a, "4"), postingStyle: .asap, coalesceMask: [])
            loop.pass()
            token.remove()
        }
        #expect(recorder.texts == ["1", "2", "3", "4", "run inside has ended"])
    }

    @Test func `asap notifications keep a run going, and idle notifications do not`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            queue.enqueue(Notification(.a, "idle"), postingStyle: .whenIdle)
            #expect(!loop.run(mode: .default, before: .hang))
            queue.enqueue(Notification(.b, "asap"), postingStyle: .asap)
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
        #expect(recorder.texts == ["asap"])
    }

    @Test func `a now notification is posted before enqueuing returns, each time`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            for number in 0..<3 {
                queue.enqueue(Notification(.a, "\(number)"), postingStyle: .now)
                recorder.log.add("enqueued")
            }
            loop.pass()
        }
        #expect(recorder.texts == ["0", "enqueued", "1", "enqueued", "2", "enqueued"])
    }

    // Guarantees: The raw values of posting styles and coalescing masks are those of Foundation.
    @Test func `styles and masks have Foundation's raw values`() {
        #expect(NotificationQueue.PostingStyle.whenIdle.rawValue == 1)
        #expect(NotificationQueue.PostingStyle.asap.rawValue == 2)
        #expect(NotificationQueue.PostingStyle.now.rawValue == 3)
        #expect(NotificationQueue.NotificationCoalescing.onName.rawValue == 1)
        #expect(NotificationQueue.NotificationCoalescing.onSender.rawValue == 2)
    }
}

import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// A queue with several threads that enqueue, one of which is that of its loop.
@Suite struct NotificationQueueThreadsTests {
    private static let custom = RunLoop.Mode("custom")

    @Test func `each thread has one default queue, which posts to the default center`() throws {
        let queues = try (0..<2).map { _ in
            try onLoopThread { loop in
                let queue = NotificationQueue.default
                #expect(NotificationQueue.default === queue)
                #expect(queue.runLoop == loop)
                #expect(queue.notificationCenter === NotificationCenter.default)
                let another = NotificationQueue()
                #expect(another !== queue)
                #expect(another.runLoop == loop)
                #expect(another.notificationCenter === NotificationCenter.default)
                return queue
            }
        }
        #expect(queues[0] !== queues[1])
    }

    // Guarantees: A notification is posted on the thread of the queue's loop.
    @Test(arguments: [NotificationQueue.PostingStyle.now, .asap, .whenIdle])
    func `notifications from another thread are posted on the loop's thread, in order`(
        style: NotificationQueue.PostingStyle
    ) throws {
        let recorder = Recorder()
        let thread = try RunLoopThread(name: "queue")
        let isPosted = Gate()
        let token = recorder.center.addObserver(forName: nil) { note in
            #expect(thread.runLoop.isCurrent)
            if note.text == "last" { isPosted.open() }
        }
        let queue = try thread.runLoop.performAndWait {
            NotificationQueue(notificationCenter: recorder.center)
        }
        for number in 0..<100 {
            let isTaken = queue.enqueue(Notification(.a, "\(number)"), postingStyle: style, coalesceMask: [])
            #expect(isTaken)
        }
        queue.enqueue(Notification(.a, "last"), postingStyle: style, coalesceMask: [])
        #expect(isPosted.wait())
        #expect(recorder.texts == (0..<100).map(String.init) + ["last"])
        token.remove()
        thread.stop()
        thread.join()
    }

    @Test func `a notification that another thread dequeues is not posted, whatever its mode`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let other = try Threads(1) { _ in
                for (name, mode) in [(Notification.Name.a, RunLoop.Mode.default), (.b, Self.custom)] {
                    queue.enqueue(
                        Notification(name, "taken out"), postingStyle: .asap, forModes: [mode])
                    queue.enqueue(
                        Notification(.c, "stays"), postingStyle: .asap, coalesceMask: [], forModes: [mode])
                    queue.dequeueNotifications(matching: Notification(name: name), coalesceMask: .onName)
                }
            }
            try other.join()
            // Calls of other threads are carried out in any mode. In this mode no notification is posted.
            #expect(loop.run(in: .init("taking"), until: .hang) == .finished)
            loop.pass()
            loop.pass(in: Self.custom)
        }
        #expect(recorder.texts == ["stays", "stays"])
    }

    @Test func `notifications that wait when the thread ends are released, and not posted`() throws {
        let gone = Log<String>()
        let recorder = Recorder()
        let thread = try RunLoopThread(name: "queue")
        try thread.runLoop.performAndWait {
            for queue in [NotificationQueue(notificationCenter: recorder.center), .default] {
                for style in [NotificationQueue.PostingStyle.asap, .whenIdle] {
                    let canary = Canary { gone.add("gone") }
                    queue.enqueue(
                        Notification(name: Notification.Name("what waits"), userInfo: ["canary": canary]),
                        postingStyle: style, coalesceMask: [], forModes: [Self.custom])
                }
            }
        }
        #expect(gone.entries.isEmpty)
        thread.stop()
        thread.join()
        #expect(gone.entries.count == 4)
        #expect(recorder.texts.isEmpty)
    }

    @Test func `a queue that outlives its thread accepts nothing, and keeps nothing`() throws {
        let isGone = Gate()
        let recorder = Recorder()
        let thread = try RunLoopThread(name: "queue")
        let queue = try thread.runLoop.performAndWait {
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let canary = Canary(isGone)
            queue.enqueue(
                Notification(name: .a, userInfo: ["canary": canary]), postingStyle: .asap,
                forModes: [Self.custom])
            return queue
        }
        thread.stop()
        thread.join()
        #expect(isGone.wait(seconds: 0))
        for style in [NotificationQueue.PostingStyle.now, .asap, .whenIdle] {
            #expect(!queue.enqueue(Notification(name: .a), postingStyle: style))
        }
        queue.dequeueNotifications(matching: Notification(name: .a), coalesceMask: .onName)
        #expect(recorder.texts.isEmpty)
    }

    @Test func `an object that is destroyed when the thread ends may use the queue`() throws {
        let log = Log<Bool>()
        let thread = try RunLoopThread(name: "queue")
        try thread.runLoop.performAndWait {
            for queue in [NotificationQueue(), .default] {
                for style in [NotificationQueue.PostingStyle.asap, .whenIdle] {
                    let canary = Canary { [weak queue] in
                        let note = Notification(name: Notification.Name("nobody hears this"))
                        for queue in [queue, NotificationQueue.default, NotificationQueue()] {
                            queue?.dequeueNotifications(matching: note, coalesceMask: .onSender)
                            queue?.enqueue(note, postingStyle: .asap)
                        }
                        log.add(true)
                    }
                    queue.enqueue(
                        Notification(name: .a, userInfo: ["canary": canary]), postingStyle: style,
                        coalesceMask: [], forModes: [Self.custom])
                }
            }
        }
        thread.stop()
        thread.join()
        #expect(log.entries.count == 4)
    }

    @Test func `enqueuing now returns true if it has posted, also after the loop's work ended`() throws {
        let recorder = Recorder()
        let isPosted = Log<Bool>()
        let thread = try RunLoopThread(name: "queue")
        try thread.runLoop.performAndWait {
            let queue = NotificationQueue(notificationCenter: recorder.center)
            let canary = Canary {
                isPosted.add(queue.enqueue(Notification(name: .b), postingStyle: .now))
                isPosted.add(queue.enqueue(Notification(name: .c), postingStyle: .asap))
            }
            queue.enqueue(
                Notification(name: .a, userInfo: ["canary": canary]), postingStyle: .asap,
                forModes: [Self.custom])
        }
        thread.stop()
        thread.join()
        #expect(isPosted.entries == [true, false])
        #expect(recorder.texts == ["b"])
    }

    @Test func `a queue without references is destroyed, and its notifications are posted`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            weak var alive: NotificationQueue?
            do {
                let queue = NotificationQueue(notificationCenter: recorder.center)
                alive = queue
                queue.enqueue(Notification(name: .a), postingStyle: .asap)
            }
            #expect(alive == nil)
            loop.pass()
        }
        #expect(recorder.texts == ["a"])
    }
}

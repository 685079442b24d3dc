import NIOConcurrencyHelpers
import NIOCore

private struct Refusal: Error {}

let taskRows = [
    Comparison("tasks run in order, and never inside one another", kinds: [.runLoop]) { backend in
        let log = Log()
        let loop = backend.loop
        loop.execute {
            log.note("1")
            loop.execute {
                log.note("3")
                loop.execute { log.note("4") }
            }
            log.note("2")
        }
        log.wait(for: "4")
        return log.text
    },
    Comparison("the results of tasks", kinds: [.runLoop]) { backend in
        let loop = backend.loop
        let number = try loop.submit { 7 }.wait()
        let error = result(loop.submit { throw Refusal() })
        let flat = try loop.flatSubmit { loop.makeSucceededFuture(8) }.wait()
        let task = try loop.makeFutureWithTask { 9 }.wait()
        let isInside = try loop.submit { loop.inEventLoop }.wait()
        return "\(number) \(error) \(flat) \(task) \(isInside) \(loop.inEventLoop)"
    },
    Comparison("tasks at a deadline run in the order of the deadlines", kinds: [.runLoop]) { backend in
        let log = Log()
        let loop = backend.loop
        try loop.submit {
            let now = NIODeadline.now()
            for number in [3, 1, 2] {
                loop.scheduleTask(deadline: now + .milliseconds(Int64(number))) { log.note("\(number)") }
            }
            for number in 4..<8 {
                loop.scheduleTask(deadline: now + .milliseconds(5)) { log.note("\(number)") }
            }
        }.wait()
        log.wait(for: "7")
        return log.text
    },
    Comparison("a task that is cancelled", kinds: [.runLoop]) { backend in
        let log = Log()
        let loop = backend.loop
        let cancelled = loop.scheduleTask(in: .hours(1)) { log.note("never") }
        log.note("future", cancelled.futureResult)
        cancelled.cancel()
        cancelled.cancel()
        log.wait(for: "future:EventLoopError:-the-scheduled-task-was-cancelled")
        let done = loop.scheduleTask(in: .nanoseconds(1)) { log.note("done") }
        let first = result(done.futureResult)
        done.cancel()
        let failing = loop.scheduleTask(in: .milliseconds(1)) { throw Refusal() }
        return "\(first) \(result(done.futureResult)) \(result(failing.futureResult)) \(log.text)"
    },
    Comparison(
        "a due task is cancelled by the one before it",
        differences: .init(
            reason:
                "NIOPosix takes all due tasks out of its list before it runs the first one, and runs them all",
            onRunLoop: "first third")
    ) { backend in
        let log = Log()
        let loop = backend.loop
        let other = NIOLockedValueBox<Scheduled<Void>?>(nil)
        try loop.submit {
            let deadline = NIODeadline.now() - .milliseconds(1)
            loop.scheduleTask(deadline: deadline) {
                log.note("first")
                other.withLockedValue { $0 }?.cancel()
            }
            let scheduled = loop.scheduleTask(deadline: deadline) { log.note("never") }
            other.withLockedValue { $0 = scheduled }
            loop.scheduleTask(deadline: deadline + .nanoseconds(1)) { log.note("third") }
        }.wait()
        log.wait(for: "third")
        return log.text
    },
    Comparison("many tasks are scheduled and cancelled in any order", kinds: [.runLoop]) { backend in
        let log = Log()
        let loop = backend.loop
        try loop.submit {
            let start = NIODeadline.now()
            var state: UInt64 = 7
            var kept: [(Int, Int)] = []
            for number in 0..<300 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let delay = Int(state >> 33) % 20
                let task = loop.scheduleTask(deadline: start + .milliseconds(Int64(delay))) {
                    log.note("\(number)")
                }
                if number % 3 == 0 { task.cancel() } else { kept.append((delay, number)) }
            }
            loop.scheduleTask(deadline: start + .milliseconds(30)) { log.note("end") }
        }.wait()
        log.wait(for: "end")
        return log.text
    },
    Comparison("a deadline that has passed", kinds: [.runLoop]) { backend in
        let log = Log()
        let loop = backend.loop
        try loop.submit {
            loop.scheduleTask(deadline: .now() - .seconds(1)) { log.note("past") }
            loop.scheduleTask(deadline: .distantFuture) { log.note("never") }
            log.note("submitted")
        }.wait()
        log.wait(for: "past")
        return log.text
    },
    Comparison("a task that repeats, and cancels itself", kinds: [.runLoop]) { backend in
        let log = Log()
        let count = NIOLockedValueBox(0)
        let promise = backend.loop.makePromise(of: Void.self)
        log.note("cancelled", promise.futureResult)
        backend.loop.scheduleRepeatedTask(
            initialDelay: .milliseconds(2), delay: .milliseconds(1), notifying: promise
        ) { task in
            log.note("fire")
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            if number == 3 { task.cancel() }
        }
        log.wait(for: "cancelled:ok")
        return log.text
    },
    Comparison("a callback is scheduled, and cancelled", kinds: [.runLoop]) { backend in
        final class Handler: NIOScheduledCallbackHandler, Sendable {
            let log: Log
            init(_ log: Log) { self.log = log }
            func handleScheduledCallback(eventLoop: some EventLoop) { log.note("called") }
            func didCancelScheduledCallback(eventLoop: some EventLoop) { log.note("cancelled") }
        }
        let log = Log()
        let cancelled = try backend.loop.scheduleCallback(in: .hours(1), handler: Handler(log))
        cancelled.cancel()
        log.wait(for: "cancelled")
        try backend.loop.scheduleCallback(in: .milliseconds(1), handler: Handler(log))
        log.wait(for: "called")
        return log.text
    },
    Comparison("futures of two event loops", kinds: [.runLoop]) { backend in
        try Backend.with(backend.kind) { other in
            let promise = backend.loop.makePromise(of: Int.self)
            let sum = promise.futureResult.hop(to: other.loop).map { number in
                number + (other.loop.inEventLoop ? 1 : 100)
            }.and(other.loop.submit { 10 })
            promise.succeed(1)
            let both = try sum.wait()
            return "\(both.0) \(both.1)"
        }
    },
    Comparison("a group's event loops", kinds: [.runLoop]) { backend in
        var count = 0
        for loop in backend.group.makeIterator() where loop === backend.loop { count += 1 }
        let isSame = try backend.loop.submit { backend.group.any() === backend.loop }.wait()
        return "\(count) \(isSame) \(backend.group.next() === backend.loop)"
    },
]

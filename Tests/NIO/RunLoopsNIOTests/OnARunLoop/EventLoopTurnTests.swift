import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import RunLoops
import RunLoopsNIO
import Testing

/// The work of an event loop is served in small steps, within the budget of the run loop's pass.
struct EventLoopTurnTests {
    // Guarantees: A block of the run loop waits for at most a budget's worth of the event loop's tasks.
    @Test func `a block of the run loop waits for at most a budget's worth of tasks`() throws {
        let loop = try LoopThread()
        let count = NIOLockedValueBox(0)
        let atBlock = Place<Int>()
        try loop.eventLoop.submit {
            // The first task performs the block, which then runs at the end of the pass.
            loop.eventLoop.execute { loop.runLoop.perform { atBlock.put(count.withLockedValue { $0 }) } }
            for _ in 0..<5_000 { loop.eventLoop.execute { count.withLockedValue { $0 += 1 } } }
        }.wait()
        #expect(atBlock.get() <= 128)
        try loop.eventLoop.submit {}.wait()
        #expect(count.withLockedValue { $0 } == 5_000)
        loop.end()
    }

    @Test func `slow tasks spend the budget of a pass one by one`() throws {
        let loop = try LoopThread()
        let count = NIOLockedValueBox(0)
        let atBlock = Place<Int>()
        try loop.eventLoop.submit {
            loop.eventLoop.execute { loop.runLoop.perform { atBlock.put(count.withLockedValue { $0 }) } }
            for _ in 0..<20 {
                loop.eventLoop.execute {
                    count.withLockedValue { $0 += 1 }
                    // Longer than the time that a pass has for its ports.
                    let end = ContinuousClock.now + .milliseconds(1)
                    while ContinuousClock.now < end {}
                }
            }
        }.wait()
        #expect(atBlock.get() <= 1)
        try loop.eventLoop.submit {}.wait()
        #expect(count.withLockedValue { $0 } == 20)
        loop.end()
    }

    @Test func `a task that arrives while earlier ones wait for their next turn is not forgotten`() throws {
        let loop = try LoopThread()
        let log = Log()
        try loop.eventLoop.submit {
            for number in 0..<40 {
                loop.eventLoop.execute {
                    // One turn does not suffice for all, and the task of the other thread comes in between.
                    if number != 10 { return }
                    let isGiven = Place<Bool>()
                    DispatchQueue.global().async {
                        loop.eventLoop.execute { log.note("ran") }
                        isGiven.put(true)
                    }
                    _ = isGiven.get()
                }
            }
        }.wait()
        log.wait(for: "ran")
        #expect(log.text == "ran")
        loop.end()
    }

    @Test func `tasks that are due do not keep others from running`() throws {
        let loop = try LoopThread()
        let isStopped = NIOLockedValueBox(false)
        @Sendable func again() {
            if isStopped.withLockedValue({ $0 }) { return }
            // The due tasks alone spend the budget of each pass.
            let end = ContinuousClock.now + .microseconds(50)
            while ContinuousClock.now < end {}
            loop.eventLoop.scheduleTask(in: .zero) { again() }
        }
        loop.eventLoop.execute { for _ in 0..<200 { again() } }
        for _ in 0..<100 { try loop.eventLoop.submit {}.wait() }
        isStopped.withLockedValue { $0 = true }
        loop.end()
    }

    // Guarantees: A read takes at most 16 KiB, and a channel lets the others have their turns after a few reads.
    @Test func `a read takes at most 16 KiB, and channels take turns after four reads`() throws {
        let loop = try LoopThread()
        let sizes = NIOLockedValueBox<[(connection: Int, size: Int)]>([])
        let log = Log()
        let channels = NIOLockedValueBox<[any Channel]>([])
        let server = try loop.listener { channel in
            let number = channels.withLockedValue { channels in
                channels.append(channel)
                return channels.count
            }
            try channel.pipeline.syncOperations.addHandler(
                Reacting(
                    active: { _ in log.note("active") },
                    read: { _, text in
                        sizes.withLockedValue { $0.append((number, text.utf8.count)) }
                        if text.hasSuffix("!") { log.note("end") }
                    }))
        }.childChannelOption(.autoRead, value: false).bind(host: "127.0.0.1", port: 0).wait()
        let clients = [RawClient(server), RawClient(server)]
        log.wait(for: "active", times: 2)
        let text = String(repeating: "x", count: 300_000) + "!"
        for client in clients { client.send(text) }
        // The kernel has reported both sockets when the channels begin to read: an answer takes a look at all of them.
        let barrier = RawClient(try loop.bind { try $0.pipeline.syncOperations.addHandler(Echo()) })
        for _ in 0..<3 {
            barrier.send("x")
            #expect(barrier.read(1) == "x")
        }
        try loop.eventLoop.submit {
            for channel in channels.withLockedValue({ $0 }) {
                try channel.syncOptions?.setOption(.autoRead, value: true)
            }
        }.wait()
        log.wait(for: "end", times: 2)
        let all = sizes.withLockedValue { $0 }
        #expect(all.allSatisfy { $0.size <= 16 << 10 })
        #expect(all.reduce(0) { $0 + $1.size } == 2 * text.utf8.count)
        // No channel reads more than four times in a row while the other one has bytes left.
        var (row, longest) = (0, 0)
        for (one, next) in zip(all, all.dropFirst()) {
            row = one.connection == next.connection ? row + 1 : 0
            if next.connection != all[all.count - 1].connection { longest = max(longest, row) }
        }
        #expect(longest < 4)
        loop.end()
    }

    @Test func `a task that is cancelled releases what it holds at once`() throws {
        final class Held: Sendable {}
        let loop = try LoopThread()
        weak var released: Held?
        let isReleased = try loop.eventLoop.submit {
            let held = Held()
            let scheduled = loop.eventLoop.scheduleTask(in: .hours(1)) { _ = held }
            scheduled.cancel()
            return Weak(held)
        }.wait()
        try loop.eventLoop.submit {}.wait()
        released = isReleased.value
        #expect(released == nil)
        loop.end()
    }
}

/// A reference that does not hold its object.
private final class Weak<Value: AnyObject & Sendable>: @unchecked Sendable {
    weak var value: Value?
    init(_ value: Value) { self.value = value }
}

import CGLib
import RunLoops
import Testing

/// A run loop that GLib's main loop serves, together with GLib's sources.
@Suite struct GLibTests {
    /// Runs a body on a thread with a main context, and a host of the thread's run loop in the context.
    private func onGLib(_ body: @escaping @Sendable (GLibHost, OpaquePointer, RunLoop) throws -> Void) throws
    {
        try onLoopThread { loop in
            guard let context = unsafe g_main_context_new() else { fatalError("GLib has no memory") }
            unsafe g_main_context_push_thread_default(context)
            defer {
                unsafe g_main_context_pop_thread_default(context)
                unsafe g_main_context_unref(context)
            }
            try unsafe body(GLibHost(RunLoop.Guest(), in: context), context, loop)
        }
    }

    /// Runs GLib's loop until a condition holds.
    private func run(_ context: OpaquePointer, until what: String, _ holds: () -> Bool) {
        let end = ContinuousClock.Instant.hang
        while !holds() {
            unsafe g_main_context_iteration(context, 1)
            if ContinuousClock.now > end {
                Issue.record("it does not come to be: \(what)")
                return
            }
        }
    }

    /// Adds a source of GLib that calls a closure after a number of milliseconds, and again as long as the closure returns true.
    private func addTimeout(_ context: OpaquePointer, _ milliseconds: guint, _ body: @escaping () -> Bool) {
        final class Box {
            let body: () -> Bool
            init(_ body: @escaping () -> Bool) { self.body = body }
        }
        guard let source = unsafe g_timeout_source_new(milliseconds) else { fatalError("GLib has no memory") }
        // Safe: the source holds the box until it is destroyed.
        unsafe g_source_set_callback(
            source,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().body() ? 1 : 0
            }, Unmanaged.passRetained(Box(body)).toOpaque(),
            { context in
                if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).release() }
            })
        unsafe g_source_attach(source, context)
        unsafe g_source_unref(source)
    }

    @Test func `timers and blocks of the guest are served beside sources of GLib's`() throws {
        try onGLib { host, context, loop in
            var ours = 0
            var theirs = 0
            loop.add(
                Timer(timeInterval: .milliseconds(2), repeats: true) { timer in
                    ours += 1
                    if ours == 50 { timer.invalidate() }
                }, forMode: .default)
            addTimeout(context, 2) {
                theirs += 1
                return theirs < 50
            }
            let sender = try RunLoopThread(name: "sender")
            let log = Log()
            sender.runLoop.perform { for index in 0..<1000 { loop.perform { log.add("\(index)") } } }
            run(context, until: "all are served") { ours == 50 && theirs == 50 && log.entries.count == 1000 }
            #expect(log.entries == (0..<1000).map { "\($0)" })
            sender.stop()
        }
    }

    @Test func `10,000 timers are all served, in the order of their dates, and none is early`() throws {
        try onGLib { host, context, loop in
            let count = 10_000
            var (late, order): ([Duration], [Int]) = ([], [])
            let start = ContinuousClock.now + .milliseconds(50)
            for index in 0..<count {
                let due = start + .microseconds(20 * index)
                loop.add(
                    Timer(fireAt: due, interval: .zero, repeats: false) { _ in
                        late.append(.now - due)
                        order.append(index)
                    }, forMode: .default)
            }
            run(context, until: "all have fired") { late.count == count }
            #expect(late.allSatisfy { $0 >= .zero })
            #expect(order == Array(0..<count))
        }
    }

    @Test func `at rest GLib's loop is not woken`() throws {
        try onGLib { host, context, loop in
            loop.add(Timer(timeInterval: .seconds(600), repeats: false) { _ in }, forMode: .default)
            loop.add(Port<Int>(), forMode: .default) { _ in }
            while unsafe g_main_context_iteration(context, 0) != 0 {}
            let (preparations, services) = (host.preparations, host.services)
            var isOver = false
            addTimeout(context, 200) {
                isOver = true
                return false
            }
            run(context, until: "200 ms have passed") { isOver }
            #expect(host.services == services)
            #expect(host.preparations - preparations <= 2, "one wait for the time-out")
        }
    }

    @Test func `a callback of GLib's may use the loop`() throws {
        try onGLib { host, context, loop in
            var order: [String] = []
            let port = Port<Int>()
            loop.add(port, forMode: .default) { order.append("message \($0)") }
            addTimeout(context, 1) {
                order.append("callback")
                do { try port.send(1) } catch { Issue.record(error) }
                loop.add(
                    Timer(timeInterval: .milliseconds(5), repeats: false) { _ in order.append("timer") },
                    forMode: .default)
                return false
            }
            run(context, until: "all are served") { order.count == 3 }
            #expect(order == ["callback", "message 1", "timer"])
        }
    }
}

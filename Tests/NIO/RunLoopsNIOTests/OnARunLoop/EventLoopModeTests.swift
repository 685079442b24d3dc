import NIOCore
import RunLoops
import RunLoopsNIO
import Testing

struct EventLoopModeTests {
    /// A handler that runs the loop when it reads "a", while two more clients send.
    private func handlerRuns(_ mode: RunLoop.Mode, overConnections: Bool) throws -> String {
        let log = Log()
        let loop = try LoopThread()
        let clients = Place<[RawClient]>()
        let server = try loop.listener(overConnections: overConnections) { channel in
            try channel.pipeline.syncOperations.addHandler(
                Reacting(read: { context, text in
                    log.note("[\(text)")
                    context.eventLoop.execute { log.note("task-\(text)") }
                    context.eventLoop.scheduleTask(in: .zero) { log.note("timer-\(text)") }
                    if text == "a" {
                        runLoop(in: mode) {
                            let clients = clients.get()
                            clients[0].send("b")
                            clients[1].send("c")
                            log.note("sent")
                            // A block shows that the mode is served, after everything that was sent before.
                            let isServed = Place<Bool>()
                            loop.runLoop.perform(inModes: [mode]) { isServed.put(true) }
                            _ = isServed.get()
                        }
                    }
                    log.note("]")
                }))
        }.bind(host: "127.0.0.1", port: 0).wait()
        let made = [RawClient(server), RawClient(server)]
        made[0].send("a")
        clients.put(made)
        for word in ["task-a", "timer-a", "[b", "[c", "task-b", "task-c"] { log.wait(for: word) }
        loop.end()
        return log.text
    }

    // Guarantees: A handler's run of the loop in a mode of the event loop serves nothing of the event loop.
    @Test(arguments: [false, true])
    func `a run of a handler in the same mode serves nothing of the event loop`(
        overConnections: Bool
    ) throws {
        let text = try handlerRuns(.default, overConnections: overConnections)
        #expect(text.hasPrefix("[a sent ]"))
        #expect(!text.contains("<no "))
    }

    @Test(arguments: [false, true])
    func `a run of a handler in another mode holds everything still, and then it goes on`(
        overConnections: Bool
    ) throws {
        let text = try handlerRuns(RunLoop.Mode("dialog"), overConnections: overConnections)
        #expect(text.hasPrefix("[a sent ]"))
        #expect(!text.contains("<no "))
    }

    @Test func `a task of another thread waits while a task runs the loop`() throws {
        let loop = try LoopThread()
        let log = Log()
        loop.eventLoop.execute {
            log.note("[")
            runLoop(in: .default) {
                loop.eventLoop.execute { log.note("other") }
                // The loop has taken the ring of the task when it performs a later block.
                let isServed = Place<Bool>()
                loop.runLoop.perform { loop.runLoop.perform { isServed.put(true) } }
                _ = isServed.get()
            }
            log.note("]")
        }
        log.wait(for: "other")
        #expect(log.text == "[ ] other")
        loop.end()
    }

    @Test func `an event loop is served in its modes only`() throws {
        let loop = try LoopThread(inModes: [RunLoop.Mode("work")])
        let log = Log()
        loop.eventLoop.execute { log.note("task") }
        loop.eventLoop.scheduleTask(in: .zero) { log.note("timer") }
        try loop.runLoop.performAndWait { log.note("default") }
        try loop.runLoop.performAndWait {
            runLoop(in: RunLoop.Mode("work")) { log.wait(for: "timer") }
        }
        loop.end()
        #expect(log.text == "default task timer" || log.text == "default timer task")
    }

    @Test func `accepted connections wait while the loop runs in another mode`() throws {
        let loop = try LoopThread(inModes: [RunLoop.Mode("work")])
        let log = Log()
        let address = Place<any Channel>()
        let future = loop.listener { _ in log.note("child") }.bind(host: "127.0.0.1", port: 0)
        future.whenSuccess { address.put($0) }
        try loop.runLoop.performAndWait { runLoop(in: RunLoop.Mode("work")) { _ = address.get() } }
        let client = RawClient(address.get())
        try loop.runLoop.performAndWait { log.note("default") }
        try loop.runLoop.performAndWait { runLoop(in: RunLoop.Mode("work")) { log.wait(for: "child") } }
        loop.end()
        #expect(log.text == "default child")
        #expect(client.read(1) == "<end>")
    }

    @Test func `a future of the event loop is completed for code that is not SwiftNIO's`() throws {
        let loop = try LoopThread()
        let number = try loop.runLoop.performAndWait {
            // On the thread, and outside SwiftNIO's handlers, the loop may be run until a future is completed.
            var result = 0
            let future = loop.eventLoop.submit { 7 }
            future.assumeIsolated().whenSuccess { number in
                result = number
                loop.runLoop.stop()
            }
            RunLoop.current.run(in: .default, until: .distantFuture)
            return result
        }
        loop.end()
        #expect(number == 7)
    }
}

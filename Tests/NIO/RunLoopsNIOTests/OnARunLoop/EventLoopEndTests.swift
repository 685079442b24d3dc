import NIOConcurrencyHelpers
import NIOCore
import RunLoops
import RunLoopsNIO
import Testing

struct EventLoopEndTests {
    // Guarantees: When a run loop ends, its channels are closed, and no task that was given to its event loop before is lost.
    @Test func `the end of a run loop closes channels, fails timers, and runs the other tasks`() throws {
        let loop = try LoopThread()
        let log = Log()
        let child = Place<any Channel>()
        let server = try loop.bind { channel in
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            child.put(channel)
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        log.note("timer", loop.eventLoop.scheduleTask(in: .hours(1)) {}.futureResult)
        log.note("write", child.get().writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20)))
        log.note("child", child.get().closeFuture)
        log.note("server", server.closeFuture)
        log.wait(for: "writable:false")
        loop.eventLoop.execute {
            loop.thread.stop()
            log.note("task", loop.eventLoop.submit { 1 })
        }
        loop.thread.join()
        let words = Set(log.text.split(separator: " ").map(String.init))
        #expect(words.isSuperset(of: ["task:ok", "child:ok", "server:ok", "inactive:false", "removed"]))
        #expect(words.contains("write:I/O-on-closed-channel"))
        #expect(words.contains { $0.hasPrefix("timer:EventLoopError:") })
        #expect(client.readToEnd() >= 0)
    }

    @Test func `after the end, tasks are refused, and no promise is left without a result`() throws {
        let loop = try LoopThread()
        loop.end()
        // In a debug build, SwiftNIO ends the program if a promise is destroyed without a result.
        for _ in 0..<3 {
            _ = loop.eventLoop.submit { Issue.record("the event loop has ended") }
            loop.eventLoop.scheduleTask(in: .zero) { Issue.record("the event loop has ended") }.cancel()
            loop.eventLoop.execute { Issue.record("the event loop has ended") }
            _ = loop.listener { _ in }.bind(host: "127.0.0.1", port: 0)
            _ = RunLoopConnectionBootstrap(group: loop.eventLoop).connect(host: "127.0.0.1", port: 1)
        }
        #expect(throws: Never.self) { try loop.eventLoop.syncShutdownGracefully() }
    }

    @Test func `the asynchronous bootstraps of an event loop that has ended throw`() async throws {
        let loop = try LoopThread()
        loop.thread.stop()
        await loop.thread.join()
        await #expect(throws: EventLoopError.shutdown) {
            _ = try await RunLoopListenerBootstrap(group: loop.eventLoop).bind(host: "127.0.0.1", port: 0) {
                $0.eventLoop.makeSucceededVoidFuture()
            }
        }
        await #expect(throws: EventLoopError.shutdown) {
            try await RunLoopConnectionBootstrap(group: loop.eventLoop).connect(host: "127.0.0.1", port: 1) {
                $0.eventLoop.makeSucceededVoidFuture()
            }
        }
    }

    @Test func `a task that adds itself for ever does not keep the run loop from ending`() throws {
        let loop = try LoopThread()
        let count = NIOLockedValueBox(0)
        @Sendable func again() {
            count.withLockedValue { $0 += 1 }
            loop.eventLoop.execute { again() }
        }
        loop.eventLoop.execute { again() }
        loop.end()
        #expect(count.withLockedValue { $0 } > 0)
    }

    @Test func `a shut-down event loop leaves its run loop, which goes on`() throws {
        let loop = try LoopThread()
        let log = Log()
        let server = try loop.bind { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
        let client = RawClient(server)
        log.wait(for: "active:true")
        try loop.eventLoop.syncShutdownGracefully()
        #expect(client.read(1) == "<end>")
        #expect(log.text == "added registered active:true close:all inactive:false unregistered removed")
        #expect(try loop.runLoop.performAndWait { 7 } == 7)
        _ = loop.listener { _ in }.bind(host: "127.0.0.1", port: 0)
        // The mode is empty now, so a run in it returns at once.
        let outcome = try loop.runLoop.performAndWait {
            RunLoop.current.run(in: RunLoop.Mode("empty"), until: .distantFuture)
        }
        #expect(outcome == .finished)
        loop.end()
    }

    @Test func `a handler may delay the close of its channel, and the shut-down waits for it`() throws {
        final class Slow: ChannelOutboundHandler, Sendable {
            typealias OutboundIn = ByteBuffer
            let log: Log
            init(_ log: Log) { self.log = log }
            func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
                let bound = context.loopBound
                log.note("asked")
                context.eventLoop.scheduleTask(in: .milliseconds(1)) { [log] in
                    log.note("closed")
                    bound.value.close(mode: mode, promise: promise)
                }
            }
        }
        let loop = try LoopThread()
        let log = Log()
        let server = try loop.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([Slow(log), Recorder(log)])
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        try loop.eventLoop.syncShutdownGracefully()
        log.note("down")
        #expect(client.read(1) == "<end>")
        #expect(log.text.hasSuffix("close:all asked closed inactive:false unregistered removed down"))
        loop.end()
    }

    // Guarantees: A group that is shut down has joined the threads that it has started.
    @Test func `a group ends and joins the threads that it has started, and no others`() throws {
        let loop = try LoopThread()
        try RunLoopEventLoopGroup([loop.eventLoop]).syncShutdownGracefully()
        #expect(try loop.runLoop.performAndWait { 7 } == 7)
        loop.end()

        let group = try RunLoopEventLoopGroup(numberOfThreads: 3)
        let hasEnded = NIOLockedValueBox(0)
        for case let eventLoop as RunLoopEventLoop in group.makeIterator() {
            try eventLoop.runLoop.performAndWait {
                RunLoop.current.addEndHandler { hasEnded.withLockedValue { $0 += 1 } }
            }
        }
        try group.syncShutdownGracefully()
        #expect(hasEnded.withLockedValue { $0 } == 3)
    }

    @Test func `the event loops of a group take turns`() throws {
        let group = try RunLoopEventLoopGroup(numberOfThreads: 2)
        let loops = (0..<4).map { _ in group.next() }
        #expect(loops[0] === loops[2] && loops[1] === loops[3] && loops[0] !== loops[1])
        try group.syncShutdownGracefully()
    }
}

import NIOCore
import RunLoops
import RunLoopsNIO
import Testing

/// An actor whose executor is the one of an event loop.
private actor OnEventLoop {
    private let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    init(_ loop: any EventLoop) { self.loop = loop }
    func isOnLoop() -> Bool { loop.inEventLoop }
}

/// An actor whose executor is a run loop.
private actor OnRunLoop {
    private let loop: RunLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var count = 0
    init(_ loop: RunLoop) { self.loop = loop }
    func add() -> Int {
        count += 1
        return count
    }
    func isOn(_ eventLoop: any EventLoop) -> Bool { eventLoop.inEventLoop }
}

struct EventLoopExecutorTests {
    @Test func `a task of the event loop is isolated to the actors of the run loop`() throws {
        let loop = try LoopThread()
        let actor = OnRunLoop(loop.runLoop)
        let other = OnEventLoop(loop.eventLoop)
        let numbers = try loop.eventLoop.submit {
            other.assumeIsolated { _ in }
            return [actor.assumeIsolated { $0.add() }, actor.assumeIsolated { $0.add() }]
        }.wait()
        #expect(numbers == [1, 2])
        loop.end()
    }

    @Test func `an actor of either executor is on the event loop`() async throws {
        let loop = try LoopThread()
        let onEventLoop = await OnEventLoop(loop.eventLoop).isOnLoop()
        let onRunLoop = await OnRunLoop(loop.runLoop).isOn(loop.eventLoop)
        let inTask = try await loop.eventLoop.makeFutureWithTask {
            await OnEventLoop(loop.eventLoop).isOnLoop()
        }
        .get()
        #expect(onEventLoop && onRunLoop && inTask)
        #expect(!loop.eventLoop.inEventLoop)
        try await loop.eventLoop.shutdownGracefully()
        loop.thread.stop()
        await loop.thread.join()
    }
}

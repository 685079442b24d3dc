import Dispatch
import NIOCore
import RunLoops
import RunLoopsNIO
import Streams

/// A thread with a run loop, and an event loop in some of its modes.
struct LoopThread: Sendable {
    let thread: RunLoopThread
    let eventLoop: RunLoopEventLoop

    init(inModes modes: [RunLoop.Mode] = [.common]) throws {
        let started = try RunLoopThread(name: "nio-test")
        thread = started
        eventLoop = try started.runLoop.performAndWait { RunLoopEventLoop(inModes: modes) }
    }

    var runLoop: RunLoop { thread.runLoop }

    func end() {
        thread.stop()
        thread.join()
    }

    func listener(
        _ initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> RunLoopListenerBootstrap {
        RunLoopListenerBootstrap(group: eventLoop).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
    }

    /// A listener whose channels have sockets of their own, or are carried by connections.
    func listener(
        overConnections: Bool, _ initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> RunLoopListenerBootstrap {
        let made = listener(initialize)
        return overConnections ? made.childConnection { Connection($0) } : made
    }

    func bind(
        _ initialize: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) throws -> any Channel { try listener(initialize).bind(host: "127.0.0.1", port: 0).wait() }
}

/// Runs the calling thread's loop in a mode until a block that another thread performs in that mode.
///
/// - Parameters:
///   - mode: The mode.
///   - body: Called on another thread while the mode runs.
func runLoop(in mode: RunLoop.Mode, while body: @escaping @Sendable () -> Void) {
    let loop = RunLoop.current
    let source = ManualSource { loop.stop() }
    loop.add(source, forMode: mode)
    DispatchQueue.global().async {
        body()
        source.signal()
    }
    loop.run(in: mode, until: .distantFuture)
    source.invalidate()
}

public import RunLoops

/// Lets Foundation's run loop and the run loop of this package share a thread: while one of them runs, the other is served, too.
///
/// ```swift
/// let bridge = try RunLoopBridge()
/// ```
///
/// While Foundation's loop runs, the bridge serves the timers, ports, sources and blocks of this package. For example,
/// `Process.waitUntilExit` and the `wait` of XCTest run Foundation's loop. While the loop of this package runs, the bridge serves
/// the timers, streams and performed blocks of Foundation. It serves the default mode of each loop while the other loop runs in a
/// common mode. Neither loop polls: an idle thread is not woken.
///
/// A bridge can be made anywhere on its thread, also in a handler of either loop. It ends when its last reference is released; keep
/// it for as long as both loops have something to serve. If a thread has several bridges, the loops are served until the last one
/// ends. The bridge is an input of both loops, so no run of either loop ends because its mode has no inputs.
///
/// > Thread safety: any thread.
public final class RunLoopBridge: Sendable {
    private let holder: Holder

    /// What holds the bridge of the thread.
    ///
    /// `@unchecked Sendable`: only the thread of the loop uses the bridge, and the thread that releases the holder if that thread
    /// has ended.
    private final class Holder: @unchecked Sendable {
        private let loop = RunLoop.current
        private var bridge: ThreadBridge?

        init(_ bridge: ThreadBridge) { self.bridge = bridge }

        func letGo() { loop.doLast { [self] in bridge = nil } }
    }

    /// Makes a bridge between Foundation's loop and this package's loop on the calling thread.
    ///
    /// - Throws: `SystemError` if `/proc/self/fdinfo` cannot be read, which the bridge needs to find the epoll set in which
    ///   Foundation's loop waits.
    public init() throws(SystemError) { holder = Holder(try ThreadBridge.current()) }

    deinit { holder.letGo() }

    /// Separates the loops: each serves its own inputs only, as without a bridge.
    ///
    /// On another thread than the one that made the bridge, this takes effect when one of the loops next runs. Calling it again does
    /// nothing. If the thread has another bridge, that one continues.
    public func invalidate() { holder.letGo() }
}

public import RunLoops

/// An object that delivers notifications between processes, and tells every observer which notifications it has missed.
///
/// ```swift
/// let center = try DistributedNotificationCenter(.hub(named: PortName("org.example.cache")))
/// let observation = center.addObserver(forName: "user.changed", on: .main) { event in
///     switch event {
///     case .notification(let note): cache.remove(note.payload)
///     case .gap: cache.removeAll()
///     }
/// }
/// try center.post("user.changed", payload: Array("42".utf8))
/// ```
///
/// Each notification of a poster has a number. If notifications have the same poster, name and sender, an observer gets them in
/// order, each once. Where notifications are missing, the observer gets a ``DistributedNotificationGap``. There is no order between
/// posters.
///
/// The center connects in the background, and again whenever the connection ends. While it is not connected, it keeps the posts. It
/// works on its own thread, so your handlers never block it. For more, see <doc:NotificationsBetweenProcesses>.
///
/// The center ends with ``invalidate()``, or when the last reference to it is released.
///
/// > Thread safety: any thread.
public final class DistributedNotificationCenter: Sendable {
    let state: CenterState
    private let thread: RunLoopThread

    /// The engine that connects this center to other centers.
    public let engine: DistributedNotificationEngine

    /// The limits of this center.
    public var options: Options { state.options }

    /// The identity of this center as a poster.
    public var poster: DistributedNotification.Poster { .init(state.poster) }

    /// Makes a center, and begins to connect it in the background.
    ///
    /// - Parameters:
    ///   - engine: The engine that connects the center to other centers.
    ///   - options: The limits.
    /// - Throws: ``/RunLoops/SystemError`` if the thread of the center cannot be started. If the engine cannot be used,
    ///   ``connectionState`` contains the reason.
    ///
    /// > Thread safety: any thread.
    public init(_ engine: DistributedNotificationEngine, options: Options = Options()) throws(SystemError) {
        options.check()
        self.engine = engine
        thread = try RunLoopThread(servingProcess: "notifications")
        state = CenterState(options, thread.runLoop)
        state.start(engine)
    }

    // In a forked child, the thread and the connection belong to the parent process.
    deinit { if !Fork.isChild { invalidate() } }

    /// Ends the center: its observers are removed, and its connection is closed.
    ///
    /// Posts that the engine has taken are still sent if that is possible without waiting. To be sure that a post is sent, wait
    /// until it is accepted before you end the center. A second call does nothing.
    ///
    /// > Thread safety: any thread.
    public func invalidate() {
        Fork.check("DistributedNotificationCenter.invalidate")
        state.end(nil)
        let thread = thread
        // Blocks run in order, so the thread stops only after the block that ends the engine.
        thread.runLoop.performInEveryMode { thread.stop() }
    }

    // MARK: - The connection

    /// The state of the connection.
    ///
    /// > Thread safety: any thread. The state can change at any moment.
    public var connectionState: ConnectionState { state.connection }

    /// The states of the connection from now on, beginning with the current one.
    ///
    /// A task that is slow misses states, but never the newest one. The sequence ends with the center.
    public var connectionStates: AsyncStream<ConnectionState> {
        let (stream, continuation) = AsyncStream<ConnectionState>.makeStream(
            bufferingPolicy: .bufferingNewest(16))
        let number = state.watchConnection { state in
            continuation.yield(state)
            if case .ended = state { continuation.finish() }
        }
        continuation.onTermination = { [weak state] _ in state?.stopWatching(number) }
        return stream
    }

    /// The counts of this center's posts.
    public var statistics: Statistics { state.statistics }

    /// True while observers get only the notifications that their ``SuspensionBehavior`` lets through.
    ///
    /// Posting is not affected.
    public var isSuspended: Bool {
        get { state.isSuspended }
        set { state.suspend(newValue) }
    }
}

extension DistributedNotificationCenter: CustomStringConvertible {
    /// A text that names the engine and the identity of this center as a poster.
    public var description: String { "distributed notification center on \(engine), poster \(poster)" }
}

internal import CThreads

/// One thread's wait for others, as long as it lasts.
///
/// Made on the thread that is about to block: it notes what the thread holds, which cannot change while it is blocked. What
/// it waits for can, and so can the thread that serves a port set: that is asked anew each time somebody looks for a circle.
///
/// > Thread safety: ``begin()``, ``beginAnyhow()`` and ``end()`` on the thread that waits.
package final class ThreadWait: Sendable {
    /// The loop of the thread that waits, if it has one.
    let loop: RunLoop?
    /// What others may be waiting for this thread to give.
    let holdings: [Holding]
    /// What the thread has called.
    let operation: StaticString
    let origin: SourceLocation
    /// Nobody needs to break a circle with this wait in it.
    let endsByItself: Bool
    /// Empty once the wait is over, even if the thread that has waited does not know it yet.
    let stillWaitsFor: @Sendable () -> [Holding]
    private let refuse: @Sendable (WaitCircle) -> Bool

    /// All waits of the process.
    ///
    /// Taken by threads that are about to block, and when they go on; never by those who serve them.
    static let graph = Guarded(WaitGraph())

    /// Prepares a wait of the calling thread.
    ///
    /// - Parameters:
    ///   - operation: What the thread has called, as `Type.member`.
    ///   - fileID: Where it has.
    ///   - line: Where it has.
    ///   - endsByItself: Whether there is a deadline after which the thread goes on, come what may.
    ///   - refuse: Ends the wait with an error, if it can still be. Answers whether it was; then nothing is waited
    ///     for any more. Called on another thread.
    ///   - targets: What is still waited for. Called under the lock of all waits: it may take a lock that is held by
    ///     nobody who begins or ends a wait meanwhile, and calls nothing of the user's.
    package convenience init(
        in operation: StaticString, fileID: StaticString, line: Int, endsByItself: Bool = false,
        refuse: @escaping @Sendable (WaitCircle) -> Bool = { _ in false },
        for targets: @escaping @Sendable () -> [Holding]
    ) {
        // Before any lock is taken.
        Fork.check(operation)
        self.init(
            RunLoop.existing, ThreadWait.holdingsHere(), in: operation, SourceLocation(fileID, line),
            endsByItself: endsByItself, refuse: refuse, for: targets)
    }

    init(
        _ loop: RunLoop?, _ holdings: [Holding], in operation: StaticString, _ origin: SourceLocation,
        endsByItself: Bool = false, refuse: @escaping @Sendable (WaitCircle) -> Bool = { _ in false },
        for targets: @escaping @Sendable () -> [Holding]
    ) {
        self.loop = loop
        self.holdings = holdings
        self.operation = operation
        self.origin = origin
        self.endsByItself = endsByItself
        self.refuse = refuse
        stillWaitsFor = targets
    }

    /// What the calling thread holds.
    static func holdingsHere() -> [Holding] {
        var holdings: [Holding] = []
        if let loop = RunLoop.existing {
            // Also the main thread's: a port knows its receiver by this identity only.
            holdings.append(.loop(UInt(bitPattern: ObjectIdentifier(loop.handle))))
        }
        if runloops_is_main_thread() { holdings.append(.mainLoop) }
        if let thread = SetService.threadIfServing { holdings.append(.thread(thread)) }
        let source = callsHere.withLock { $0 }
        return holdings + (source?.holdings() ?? [])
    }

    /// The observers that the calling thread calls, told by the module that has them called.
    package static let callsHere = ForkSafe<HoldingSource?>(nil)

    /// Begins the wait, unless it would close a circle.
    ///
    /// - Returns: The circle; then the wait has not begun.
    package func begin() -> WaitCircle? { enter().map { WaitCircle($0) } }

    private func enter() -> [ThreadWait]? {
        // Nobody can wait for a thread that holds nothing, and so it is in no circle.
        if holdings.isEmpty { return nil }
        return ThreadWait.graph.withLock { $0.enter(self) }
    }

    /// Begins a wait that cannot fail: if it would close a circle, another wait in it does.
    ///
    /// - Returns: A circle in which every thread would wait for ever; then the wait has not begun.
    package func beginAnyhow() -> WaitCircle? {
        var tried: [ObjectIdentifier] = []
        while let circle = enter() {
            let refused = circle.indices.dropFirst().first { index in
                // From the one that is refused on, so that it finds itself first.
                circle[index].refuse(WaitCircle(Array(circle[index...] + circle[..<index])))
            }
            if refused != nil { continue }
            // Nobody could be refused: perhaps because the circle broke by itself meanwhile. If it is the same when
            // looked at again, it is there to stay.
            let waits = circle.map { ObjectIdentifier($0) }
            if waits != tried {
                tried = waits
                continue
            }
            guard circle.contains(where: { $0.endsByItself }) else { return WaitCircle(circle) }
            ThreadWait.graph.withLock { $0.enterAnyway(self) }
            return nil
        }
        return nil
    }

    /// The thread goes on.
    package func end() {
        if holdings.isEmpty { return }
        ThreadWait.graph.withLock { $0.leave(self) }
    }
}

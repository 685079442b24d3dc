internal import CRunLoops

/// The record of one wait in which a thread waits for other threads.
///
/// A *target* is an event that only one thread can cause (``WaitTarget``). That thread *holds* the target. The record is created on
/// the thread that is about to block. It contains the targets that this thread holds, which cannot change while the thread is
/// blocked. But the targets that the thread waits for can change, for example if another thread begins to serve a port set. So each
/// search for a circle of waiting threads calls ``stillWaitsFor`` again.
///
/// > Thread safety: ``begin()``, ``beginOrBreakCircle()`` and ``end()`` on the thread that waits.
///
/// `@unchecked Sendable`: all properties, also those of the subclass, are constants of types that are `Sendable`.
package class ThreadWait: @unchecked Sendable {
    /// The loop of the waiting thread, if it has one.
    let loop: RunLoop?
    /// The events that only this thread can cause.
    ///
    /// Other threads can be waiting for these events.
    let heldTargets: HeldTargets
    /// The public member that the thread has called.
    let operation: StaticString
    let origin: SourceLocation
    /// True if the wait has a deadline, after which the thread continues in any case.
    ///
    /// A circle of waiting threads that contains a wait with a deadline ends by itself, and need not be broken.
    let endsByItself: Bool
    private let targets: @Sendable () -> [WaitTarget]
    private let refusal: @Sendable (WaitCircle) -> Bool

    /// The waits that are in progress in this process.
    ///
    /// The graph omits the waits of threads that cannot be part of a circle of waiting threads. A thread takes the lock when it is
    /// about to block, and when it continues. A thread that serves the request of a waiting thread does not take the lock.
    static let graph = Guarded(WaitGraph())

    /// Prepares a wait of the calling thread.
    ///
    /// - Parameters:
    ///   - operation: The public member that the thread has called, as `Type.member`.
    ///   - fileID: The file of the call.
    ///   - line: The line of the call.
    ///   - endsByItself: True if there is a deadline after which the thread continues in any case.
    ///   - refuse: Ends the wait with an error, if the wait is not over. The closure is called on another thread. It returns true
    ///     if it has ended the wait; the wait then has no targets.
    ///   - targets: Returns the events that the thread is still waiting for. The closure is called under the lock of all waits. So
    ///     it must not call code of the user. It must not take a lock that a thread can hold when it begins or ends a wait.
    package convenience init(
        in operation: StaticString, fileID: StaticString, line: Int, endsByItself: Bool = false,
        refuse: @escaping @Sendable (WaitCircle) -> Bool = { _ in false },
        for targets: @escaping @Sendable () -> [WaitTarget]
    ) {
        // This check is made before any lock is taken.
        Fork.check(operation)
        self.init(
            RunLoop.existing, ThreadWait.heldTargetsHere(), in: operation, SourceLocation(fileID, line),
            endsByItself: endsByItself, refuse: refuse, for: targets)
    }

    init(
        _ loop: RunLoop?, _ heldTargets: HeldTargets, in operation: StaticString, _ origin: SourceLocation,
        endsByItself: Bool = false, refuse: @escaping @Sendable (WaitCircle) -> Bool = { _ in false },
        for targets: @escaping @Sendable () -> [WaitTarget]
    ) {
        self.loop = loop
        self.heldTargets = heldTargets
        self.operation = operation
        self.origin = origin
        self.endsByItself = endsByItself
        refusal = refuse
        self.targets = targets
    }

    /// Returns the events that the thread is still waiting for.
    ///
    /// The list is empty after the end of the wait, even if the waiting thread has not continued yet.
    func stillWaitsFor() -> [WaitTarget] { targets() }

    /// Returns true if the thread still waits for an event that only it can cause itself.
    var waitsForItself: Bool { stillWaitsFor().contains { heldTargets.contains($0) } }

    /// Ends the wait with an error, unless it is over.
    ///
    /// - Returns: True if the wait was ended.
    func refuse(_ circle: WaitCircle) -> Bool { refusal(circle) }

    /// Returns the events that other threads can be waiting for, and that only the calling thread can cause.
    static func heldTargetsHere() -> HeldTargets {
        var targets = HeldTargets()
        if let handle = LoopHandle.ofThread {
            // The main thread holds this target in addition to `.mainLoop`, because a port identifies its receiver only by the
            // identity of the loop's handle.
            targets.append(.loop(UInt(bitPattern: ObjectIdentifier(handle))))
        }
        if runloops_is_main_thread() { targets.append(.mainLoop) }
        if let thread = PortSetServers.threadIfServing { targets.append(.thread(thread)) }
        let source = callsHere.withLock { $0 }
        if let source { for target in source.targets() { targets.append(target) } }
        return targets
    }

    /// The function that returns a target for each observer's handler that is running on the calling thread.
    ///
    /// Other threads can wait until these handlers have returned. The module that calls observers sets this function.
    package static let callsHere = ForkSafe<WaitTargetSource?>(nil)

    /// Begins the wait, unless it would close a circle of threads that wait for each other.
    ///
    /// - Returns: The circle, if there is one. In that case the wait has not begun.
    package func begin() -> WaitCircle? {
        if Recorder.isOn { _ = Recorder.begin(.wait, origin) }
        guard let circle = enter() else { return nil }
        Recorder.endInnermost(.wait, number: 1)
        return WaitCircle(circle)
    }

    private func enter() -> [ThreadWait]? {
        // No thread can wait for a thread that holds no target, so this wait is in no circle.
        if heldTargets.isEmpty { return nil }
        return ThreadWait.graph.withLock { $0.enter(self) }
    }

    /// Begins the wait, for an operation that cannot fail.
    ///
    /// If the wait would close a circle, another wait in the circle is refused instead.
    ///
    /// - Returns: Nil if the wait has begun; otherwise the circle. Every thread in that circle would wait for ever, because no
    ///   other wait in the circle could be refused, and none ends by itself.
    package func beginOrBreakCircle() -> WaitCircle? {
        if Recorder.isOn { _ = Recorder.begin(.wait, origin) }
        var tried: [ObjectIdentifier] = []
        while let circle = enter() {
            let refused = circle.indices.dropFirst().first { index in
                // The refused wait gets the circle that begins with itself, so that its error names this wait first.
                circle[index].refuse(WaitCircle(Array(circle[index...] + circle[..<index])))
            }
            if refused != nil { continue }
            // No wait was refused, perhaps because the circle no longer exists. If the next search finds the same circle, the
            // circle is permanent.
            let waits = circle.map { ObjectIdentifier($0) }
            if waits != tried {
                tried = waits
                continue
            }
            guard circle.contains(where: { $0.endsByItself }) else {
                Recorder.endInnermost(.wait, number: 1)
                return WaitCircle(circle)
            }
            ThreadWait.graph.withLock { $0.enterUnchecked(self) }
            return nil
        }
        return nil
    }

    /// Ends the wait, so that the thread continues.
    package func end() {
        Recorder.endInnermost(.wait)
        if heldTargets.isEmpty { return }
        ThreadWait.graph.withLock { $0.leave(self) }
    }
}

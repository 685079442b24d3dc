internal import RunLoops

/// The owner of an observation, which ends when the last copy of its token is destroyed, or when it is removed.
///
/// A token that is not kept ends its observation at once. Keep it in a stored property of the object that observes, or in an
/// ``ObservationBag`` there. A local variable is not enough by itself: in an optimized build Swift may destroy it, or an array
/// that has the token, after its last use and not at the end of its scope. Use it there, with `defer { token.remove() }`.
///
/// ```swift
/// let token = center.addObserver(forName: .didConnect) { note in log(note) }
/// defer { token.remove() }
/// ```
///
/// <doc:Delivery> says when no call of the handler starts any more.
///
/// > Thread safety: any thread.
public final class ObservationToken: Sendable {
    let registration: Registration

    init(_ registration: Registration) { self.registration = registration }

    deinit { registration.remove() }

    /// Ends the observation: no call of its handler starts after this has returned.
    ///
    /// That holds on every thread, for posts that are under way, and for notifications that wait in a queue. A call that had
    /// begun on another thread may still run; ``removeAndWait(fileID:line:)`` and ``removed()`` wait for it. Again is harmless.
    ///
    /// > Thread safety: any thread, also the handler's own.
    public func remove() { registration.remove() }

    /// Ends the observation, and waits until no call of its handler runs.
    ///
    /// The calling thread's own loop does not run meanwhile. If the handler waits for this thread, directly or through
    /// others, it would be for ever. Then a wait in that circle is refused, with ``/RunLoops/PerformError/circle(_:)``,
    /// ``/RunLoops/RequestError/circle(_:)`` or ``/RunLoops/PortSendRefusal/wouldDeadlock``, so that the handler can return.
    ///
    /// - Parameters:
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    /// - Precondition: Not called from the handler itself, whose end it would wait for, nor where the handler waits for
    ///   what cannot be refused: a block that runs, or the end of a handler or thread that waits for this one.
    ///
    /// > Thread safety: any thread. Not in asynchronous code.
    @available(*, noasync, message: "this blocks the thread; await removed() instead")
    public func removeAndWait(fileID: StaticString = #fileID, line: Int = #line) {
        if registration.isRunningHere {
            fatalError(
                "ObservationToken.removeAndWait: called from the observation's own handler, whose end it would wait for; call remove()"
            )
        }
        registration.remove()
        let gate = ThreadGate()
        registration.whenFinished { gate.open() }
        if gate.looksOpen { return }
        let calls = registration.calls
        let wait = ThreadWait(
            in: "ObservationToken.removeAndWait", fileID: fileID, line: line, for: { calls })
        if let circle = wait.beginOrBreakCircle() {
            fatalError(
                "ObservationToken.removeAndWait: it would never return, because \(circle); call remove()")
        }
        gate.wait()
        wait.end()
    }

    /// Ends the observation, and waits until no call of its handler runs, without blocking a thread.
    ///
    /// Cancelling the task does not end the wait. Not to be awaited while the handler waits for this task.
    ///
    /// > Thread safety: any task.
    public func removed() async {
        registration.remove()
        await withCheckedContinuation { continuation in
            registration.whenFinished { continuation.resume() }
        }
    }
}

extension ObservationToken: Hashable {
    /// Whether both are the token of the same observation.
    ///
    /// - Parameters:
    ///   - left: A token.
    ///   - right: Another one.
    /// - Returns: Whether both are the token of the same observation.
    public static func == (left: ObservationToken, right: ObservationToken) -> Bool {
        left.registration.id == right.registration.id
    }

    /// Feeds the observation's identity.
    ///
    /// - Parameter hasher: What is fed.
    public func hash(into hasher: inout Hasher) { hasher.combine(registration.id) }
}

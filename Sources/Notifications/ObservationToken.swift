internal import RunLoops

/// An owner of one observation: the observation ends when the token is removed or the last reference to it is released.
///
/// If you do not keep the token, the observation ends immediately. Keep the token in a stored property of the object that observes:
/// either the token itself, or an ``ObservationBag`` that holds it. A local variable alone is not enough: in an optimized build,
/// Swift can destroy the variable, or an array that contains the token, after its last use instead of at the end of its scope. To
/// prevent that, use the token at the end of the scope, with `defer { token.remove() }`.
///
/// ```swift
/// let token = center.addObserver(forName: .didConnect) { note in log(note) }
/// defer { token.remove() }
/// ```
///
/// <doc:EndingObservations> defines the moment after which no call of the handler starts.
///
/// > Thread safety: any thread.
public final class ObservationToken: Sendable {
    let registration: Registration

    init(_ registration: Registration) { self.registration = registration }

    deinit { registration.remove() }

    /// Ends the observation, so that no call of its handler starts after this has returned.
    ///
    /// No call starts on any thread, not even for a post that is under way or a notification that waits for a loop. A call that
    /// has begun on another thread can still be running; ``removeAndWait(fileID:line:)`` and ``removed()`` wait for it. Calling
    /// this method again does nothing.
    ///
    /// > Thread safety: any thread, even inside the handler itself.
    public func remove() { registration.remove() }

    /// Ends the observation, and waits until no call of its handler is running.
    ///
    /// The calling thread's own loop does not run during the wait. If the handler waits for this thread, directly or through other
    /// threads, the waits form a circle that would never end. Therefore one of these waits fails with
    /// ``/RunLoops/PerformError/Reason/wouldDeadlock``, ``/RunLoops/RequestError/Reason/wouldDeadlock`` or
    /// ``/RunLoops/PortSendRefusal/wouldDeadlock``, so that the handler can return.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Precondition: Not called from the handler itself, which would wait for its own end. Also not called while the handler
    ///   waits for this thread in one of the ways that cannot fail: for a running block, for the end of a handler, or for the end
    ///   of a thread.
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

    /// Ends the observation, and suspends the task until no call of the observation's handler is running.
    ///
    /// Cancelling the task does not end the wait. Do not await this while the handler waits for the calling task.
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
    /// Compares two tokens.
    ///
    /// - Parameters:
    ///   - left: A token.
    ///   - right: Another token.
    /// - Returns: True if both are tokens of the same observation.
    public static func == (left: ObservationToken, right: ObservationToken) -> Bool {
        left.registration.id == right.registration.id
    }

    /// Hashes the identity of the observation.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(registration.id) }
}

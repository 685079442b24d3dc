internal import RunLoops

extension Listener {
    /// Stops accepting, and reports when all connections of the listener have ended.
    ///
    /// The listener is invalidated, as by ``invalidate()``. The connections that it has accepted continue, on this loop and on others,
    /// until they end. Close those that wait for a request, or the report does not come. Each call of this method is reported.
    ///
    /// ```swift
    /// let stop = try GracefulStop(within: .seconds(30)) { stop in
    ///     listener.stop { _ in stop.finish() }
    ///     for connection in idle { connection.closeAfterWriting() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - onStopped: Called once with the listener, never during this call, in the common modes of this thread's loop. If that loop
    ///     ends first, the handler is released and not called.
    ///
    /// > Thread safety: the loop's thread only; ``invalidate()`` ends a listener on any thread.
    public func stop(
        fileID: StaticString = #fileID, line: Int = #line, onStopped: @escaping (Listener) -> Void
    ) {
        requireOwnThread("Listener.stop")
        let report = LoopCallback(RunLoop.current, SourceLocation(fileID, line)) { [self] in onStopped(self) }
        invalidate(whenDrained: { report.schedule() })
    }

    /// Stops accepting, and waits until all connections of the listener have ended.
    ///
    /// This behaves like ``stop(fileID:line:onStopped:)``. If the task is cancelled, this returns at once; the listener stays stopped,
    /// and its connections continue.
    ///
    /// > Thread safety: the loop's thread only, for example in an actor that lives on the loop.
    nonisolated(nonsending) public func stop() async {
        requireOwnThread("Listener.stop")
        let end = OneShot<Void>()
        await end.value(before: .never, timedOut: (), cancelled: ()) {
            invalidate(whenDrained: { end.decide(()) })
        }
        // A task that was cancelled before it began to wait has not stopped the listener yet.
        invalidate()
    }
}

// Calling user code.

extension LoopCore {
    /// Calls user code, and times it or writes it down if that was asked for.
    ///
    /// - Parameters:
    ///   - origin: Where the user made what is called.
    ///   - kind: What it was given as.
    ///   - handler: What is called.
    @inline(__always)
    func callHandler(
        _ origin: SourceLocation, as kind: RunLoop.HandlerKind = .block, _ handler: () -> Void
    ) {
        if notesHandlers { callNoted(origin, kind, handler) } else { handler() }
    }

    @inline(never)
    private func callNoted(
        _ origin: SourceLocation, _ kind: RunLoop.HandlerKind, _ handler: () -> Void
    ) {
        let isNoted = inbox.handlers.begin(kind, origin, nextTimer: timers.nextWake ?? .never)
        if measuresHandlers { callTimed(origin, handler) } else { handler() }
        if isNoted { inbox.handlers.end() }
    }

    private func callTimed(_ origin: SourceLocation, _ handler: () -> Void) {
        let start = Moment.now()
        handler()
        let length = Moment.now().nanoseconds - start.nanoseconds
        inbox.longestHandler.withLock { longest in
            if length > longest?.nanoseconds ?? -1 {
                longest = LongestHandler(nanoseconds: length, origin: origin)
            }
        }
    }

    /// A handler runs the loop, perhaps: then it is not the one that keeps the loop from its work.
    func pauseHandler() -> HandlerRecord.Paused { inbox.handlers.pause() }

    /// That run has returned.
    func resumeHandler(_ paused: HandlerRecord.Paused) {
        inbox.handlers.resume(paused, nextTimer: timers.nextWake ?? .never)
    }
}

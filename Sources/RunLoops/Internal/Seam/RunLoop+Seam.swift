extension RunLoop {
    /// Ends the program unless the calling thread is the loop's.
    ///
    /// - Parameters:
    ///   - member: The member that was called, for the message.
    ///   - instead: The caller's alternative, for the message.
    package func requireOwnThread(_ member: StaticString, _ instead: StaticString) {
        _ = core(member, instead)
    }

    /// Calls user code as the loop does: timed and watched if the program asked for that.
    ///
    /// - Parameters:
    ///   - origin: The place in the user's code where the handler was given.
    ///   - handler: The call.
    package func callHandler(_ origin: SourceLocation, _ handler: () -> Void) {
        core("RunLoop.callHandler", "call it on the thread of the loop").members.handlers.call(
            origin, handler)
    }

    /// True once the loop has ended, as the loop's own thread sees it; false on every other thread.
    package var hasEnded: Bool { coreIfCurrent?.members.hasEnded ?? false }

    /// Ends the runs of the loop, now and later.
    package func endAllRuns() { handle.request(.end) }

    /// The target of a wait for this loop, which serves the waiting thread or ends.
    package var waitTarget: WaitTarget {
        isMain ? .mainLoop : .loop(UInt(bitPattern: ObjectIdentifier(handle)))
    }

    /// Does on the loop's thread the work that an object leaves when it is destroyed.
    ///
    /// At once, if this is that thread; otherwise when the loop runs, in any mode. Not at all if the loop has ended, nor in a
    /// forked child, where an object may still be destroyed.
    ///
    /// - Parameter body: The work.
    package func doLast(_ body: @escaping @Sendable () -> Void) {
        if Fork.isChild { return }
        if isCurrent { body() } else { performInEveryMode(body) }
    }

    /// Returns true if a mode of a list is the one that runs, or if none runs.
    ///
    /// - Parameter modes: The list; the common modes stand for each of them.
    /// - Returns: True if so.
    package func isIdleOrRuns(inOneOf modes: [Mode]) -> Bool {
        let core = core("RunLoop.isIdleOrRuns", "perform a block on the loop and ask there")
        guard let mode = core.members.currentMode else { return true }
        return modes.contains { $0 == mode || core.members.modeIsCommon && $0 == .common }
    }
}

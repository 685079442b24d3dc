extension RunLoop {
    /// Lets the removals of an object take effect, and returns true if the object has not ended.
    ///
    /// Call this on the loop's thread before a handler of the object, if the object is not untouched.
    package func admits(touched end: borrowing InputEnd) -> Bool {
        coreIfCurrent?.members.admits(touched: end) ?? !end.hasEnded
    }

    /// Calls a closure on the thread of the loop, which removes an object there: now on that thread, or with a hand-over.
    ///
    /// If the loop has ended, this does nothing, because the end of a loop removes all objects. In a forked child, this does
    /// nothing either.
    ///
    /// - Parameters:
    ///   - end: The end of the object, whose handlers are not called until the removal has taken effect.
    ///   - remove: The closure.
    package func remove(_ end: borrowing InputEnd, _ remove: @escaping () -> Void) {
        if self.remove(remove) { end.markRemoval() }
    }

    /// Does the same for an object without an end, such as a port: its loop takes what was handed over before each call.
    ///
    /// - Returns: True if the removal was handed over.
    @discardableResult
    package func remove(_ remove: @escaping () -> Void) -> Bool {
        if Fork.isChild { return false }
        if let core = coreIfCurrent {
            core.members.takeHandOversIfAny()
            remove()
            return false
        }
        handOverRemoval { _ in remove() }
        return true
    }

    /// Hands over a call to the loop, or makes the call now if the calling thread is the loop's; does nothing if the loop has ended.
    ///
    /// Calls, removals and ends that one thread hands over take effect in order.
    package func handOver(_ call: @escaping () -> Void) {
        if let core = coreIfCurrent {
            core.members.takeHandOversIfAny()
            return call()
        }
        handOver { (_: LoopCore) in call() }
    }

    /// Ends the program unless the calling thread is the loop's thread.
    ///
    /// - Parameters:
    ///   - member: The member that was called, whose name the message contains.
    ///   - instead: The advice in the message: what the caller can do instead.
    package func requireOwnThread(_ member: StaticString, _ instead: StaticString) {
        _ = core(member, instead)
    }

    /// The value through which an object of another module calls the program's handlers on this loop.
    ///
    /// An object can keep the value, so that it need not look up the loop for each call.
    package var handlerCalls: HandlerCalls {
        HandlerCalls(core("RunLoop.handlerCalls", "ask on the thread of the loop").members.handlers)
    }

    /// True if the loop has ended and the calling thread is the loop's own thread; false on every other thread.
    package var hasEnded: Bool { coreIfCurrent?.members.hasEnded ?? false }

    /// Ends all current and future runs of the loop.
    package func endAllRuns() { handle.request(.end) }

    /// The value that represents this loop as the target of a thread's wait.
    package var waitTarget: WaitTarget {
        isMain ? .mainLoop : .loop(UInt(bitPattern: ObjectIdentifier(handle)))
    }

    /// Performs the last work of an object on the loop's thread.
    ///
    /// Any thread can call this while it destroys the object. If the caller is on the loop's thread, the work is performed
    /// immediately. Otherwise it is performed when the loop next runs, in any mode. If the loop has ended, or in a forked child,
    /// the work is discarded.
    ///
    /// - Parameter body: The work.
    package func doLast(_ body: @escaping @Sendable () -> Void) {
        if Fork.isChild { return }
        if isCurrent { body() } else { performInEveryMode(body) }
    }

    /// Returns true if the running mode is in a list, or if the loop is not running.
    ///
    /// - Parameter modes: The list, in which `.common` stands for every common mode.
    /// - Returns: True if the running mode is in the list, or no mode runs.
    package func isIdleOrRuns(inOneOf modes: [Mode]) -> Bool {
        let core = core("RunLoop.isIdleOrRuns", "perform a block on the loop and ask there")
        guard let mode = core.members.currentMode else { return true }
        return modes.contains { $0 == mode || core.members.modeIsCommon && $0 == .common }
    }
}

extension InputEnd {
    /// Records that the object belongs to the loop of the calling thread, before it joins that loop.
    ///
    /// - Returns: False if the object has ended, and must not join.
    package func join(_ loop: RunLoop) -> Bool { join(loop.handle) }
}

/// Work that waits for a step of a pass: its end, or the moment at which the loop has nothing to do.
///
/// The loop asks when it comes to that step. What is added while it is done waits for the next time.
///
/// > Thread safety: the loop's own thread only.
package protocol DeferredWork: AnyObject {
    /// Whether there is something to do in this mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: Whether it is one of the common modes.
    /// - Returns: Whether there is.
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool

    /// Does what is there to be done in this mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: Whether it is one of the common modes.
    func performWork(for mode: RunLoop.Mode, isCommon: Bool)

    /// Lets go of what is there to be done: the loop has ended, and asks no more.
    func discardWork()
}

extension RunLoop {
    /// Has the loop ask for work at the end of each pass; pending work keeps its modes alive.
    ///
    /// If the loop has ended, the work is discarded.
    ///
    /// - Parameter work: Who is asked, until it is removed or the loop ends.
    package func addPassEndWork(_ work: any DeferredWork) {
        let core = core("RunLoop.addPassEndWork", "perform a block on the loop and add it there")
        if core.hasEnded { return work.discardWork() }
        core.passEndWork.append(work)
    }

    /// Has the loop ask for work each time it is about to sleep.
    ///
    /// If the loop has ended, the work is discarded.
    ///
    /// - Parameter work: Who is asked, until it is removed or the loop ends.
    package func addIdleWork(_ work: any DeferredWork) {
        let core = core("RunLoop.addIdleWork", "perform a block on the loop and add it there")
        if core.hasEnded { return work.discardWork() }
        core.idleWork.append(work)
    }

    /// Has the loop ask for work no more.
    ///
    /// A step that is under way may ask once more. Removing again is harmless.
    ///
    /// - Parameter work: Who was asked. The caller holds it: what goes with it does not go in here.
    package func removeDeferredWork(_ work: any DeferredWork) {
        let core = core("RunLoop.removeDeferredWork", "perform a block on the loop and remove it there")
        core.passEndWork.removeAll { $0 === work }
        core.idleWork.removeAll { $0 === work }
    }

    /// Does on the loop's thread what an object leaves to be done there when it goes.
    ///
    /// At once, if this is that thread; else when the loop runs, in whatever mode. Not at all if the loop has ended, nor in a
    /// forked child, where an object may still go.
    ///
    /// - Parameter body: What is done.
    package func doLast(_ body: @escaping @Sendable () -> Void) {
        if Fork.isChild { return }
        if isCurrent { body() } else { performInEveryMode(body) }
    }

    /// One object per loop and key, made when it is first asked for; it goes with the loop.
    ///
    /// - Parameters:
    ///   - key: Which one.
    ///   - make: Makes it.
    /// - Returns: The object.
    package func companion<Companion: AnyObject>(_ key: ObjectIdentifier, make: () -> Companion) -> Companion
    {
        let core = core("RunLoop.companion", "perform a block on the loop and ask there")
        if let known = core.companions[key] as? Companion { return known }
        let made = make()
        if !core.hasEnded { core.companions[key] = made }
        return made
    }

    /// One object per loop and key for all threads, made when it is first asked for.
    ///
    /// The loop holds it weakly: it lives as long as somebody else holds it.
    ///
    /// - Parameters:
    ///   - key: Which one.
    ///   - make: Makes it; called under a lock, so it calls nothing of the loop's.
    /// - Returns: The object.
    package func shared<Shared: AnyObject & Sendable>(_ key: ObjectIdentifier, make: () -> Shared) -> Shared {
        sharedObjects.withLock { objects in
            if let known = objects[key]?.object(as: Shared.self) { return known }
            let made = make()
            objects[key] = WeakReference(made)
            return made
        }
    }

    /// Keeps an object until the loop has ended, and let go of all blocks that were sent to it.
    ///
    /// That may be now. The object goes on the loop's thread, or on this one if the loop has ended.
    ///
    /// - Parameter object: The object.
    package func keepToTheEnd(_ object: any AnyObject & Sendable) {
        keptToTheEnd.withLock { $0?.append(object) }
    }

    /// The loop has ended, and nothing is left in it.
    func letGoOfWhatWasKept() {
        let kept = keptToTheEnd.withLock { kept in
            defer { kept = nil }
            return kept
        }
        withExtendedLifetime(kept) {}
    }

    /// Whether a mode of a list is the one that runs, or none runs.
    ///
    /// - Parameter modes: The list; the common modes stand for each of them.
    /// - Returns: Whether it is.
    package func isIdleOrRuns(inOneOf modes: [Mode]) -> Bool {
        let core = core("RunLoop.isIdleOrRuns", "perform a block on the loop and ask there")
        guard let mode = core.currentMode else { return true }
        return modes.contains { $0 == mode || core.modeIsCommon && $0 == .common }
    }
}

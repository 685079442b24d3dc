/// All loops of the process that have not ended, for watchdogs, inspectors and the flight recorder.
///
/// > Thread safety: any thread.
enum LoopRegistry {
    private struct Contents {
        /// The loops, each with a number that gives the order in which the loops were made.
        var loops: [RunLoop: Int] = [:]
        var nextNumber = 0
        /// The number of watchdogs and inspectors that watch the loops.
        var watchers = 0
    }

    /// The contents of the registry.
    ///
    /// Every caller has checked that the process is not a forked child. In such a child, the lock can be held forever by a thread
    /// that exists only in the parent.
    private static let contents = Guarded(Contents())

    /// Adds a new loop.
    static func add(_ loop: RunLoop) {
        contents.withLock { contents in
            contents.loops[loop] = contents.nextNumber
            contents.nextNumber += 1
            loop.handle.handlers.addWatchers(contents.watchers)
            loop.handle.handlers.setRecorded(Recorder.isOn)
        }
    }

    /// Notifies all loops that a recording has begun or ended.
    ///
    /// From then on, the loops record their handlers for the flight recorder if there is a recording.
    static func recordingDidChange() {
        contents.withLock { contents in
            // This is read under the lock, so that the later of two changes takes effect last.
            let isOn = Recorder.isOn
            for loop in contents.loops.keys { loop.handle.handlers.setRecorded(isOn) }
        }
    }

    /// Removes a loop that has ended.
    static func remove(_ loop: RunLoop) {
        // The loop is released after the unlock.
        let removed = contents.withLock { $0.loops.removeValue(forKey: loop) }
        withExtendedLifetime(removed) {}
    }

    /// Adds 1 to the number of watchdogs and inspectors.
    ///
    /// While this number is above 0, all current and future loops record their handlers.
    static func beginWatching() { addWatchers(1) }

    /// Subtracts 1 from the number of watchdogs and inspectors.
    ///
    /// The loops continue to record their handlers if another watchdog or inspector, or the flight recorder, needs that.
    static func endWatching() { addWatchers(-1) }

    private static func addWatchers(_ number: Int) {
        contents.withLock { contents in
            contents.watchers += number
            for loop in contents.loops.keys { loop.handle.handlers.addWatchers(number) }
        }
    }

    /// The loops of the process that have not ended, in the order in which they were made.
    static var loops: [RunLoop] {
        contents.withLock { $0.loops }.sorted { $0.value < $1.value }.map(\.key)
    }
}

internal import Synchronization

/// The properties of a timer under other names.
///
/// A module uses these properties if it declares its own properties with the original names, but with Foundation's types.
extension Timer {
    /// ``Timer/timeInterval`` as a duration.
    package var intervalDuration: Duration { timeInterval }

    /// ``Timer/tolerance`` as a duration.
    package var toleranceDuration: Duration {
        get { tolerance }
        set { tolerance = newValue }
    }

    /// Returns the tolerance that a timer would have after `duration` was set.
    package func toleranceDuration(from duration: Duration) -> Duration {
        .nanoseconds(possibleTolerance(duration))
    }

    /// ``Timer/fireDate`` as an instant.
    package var fireInstant: ContinuousClock.Instant {
        get { fireDate }
        set { fireDate = newValue }
    }
}

extension Timer {
    /// Returns the object that another module keeps for the timer, and makes it at the first call.
    ///
    /// > Thread safety: any thread.
    package func companion(_ make: () -> AnyObject) -> AnyObject {
        storedCompanion.load() ?? storedCompanion.storeIfNil(make())
    }
}

// What the loop's own thread does at once, and what another thread hands over to the loop.
extension Timer {
    /// Calls the handler: now on the thread of the timer's loop, and soon on that thread if the caller is another one.
    ///
    /// > Thread safety: any thread.
    package func fireAnywhere() {
        if end.hasEnded || end.handOver({ [self] in fireSoon() }) { return }
        LoopMembers.ofThread?.takeHandOversIfAny()
        fire()
    }

    /// Has the calling thread's loop call the handler as soon as it runs in a mode of the timer, because a hand-over calls no
    /// handler of a timer.
    private func fireSoon() {
        // Safe: the closure is called on the thread of this loop.
        nonisolated(unsafe) let timer = self
        let isCommon = membership.followsCommon || membership.modes.isEmpty
        RunLoop.existing?.performOwn(inModes: isCommon ? [.common] : membership.modes) {
            unsafe timer.fireAnywhere()
        }
    }
}

extension RunLoop {
    /// Adds a timer to a mode: now on the loop's thread, and through a hand-over on another thread.
    ///
    /// If the timer is in another loop, that loop hands the timer on, after everything that it was told before.
    ///
    /// > Thread safety: any thread.
    package func addAnywhere(_ timer: Timer, forMode mode: Mode) {
        if isCurrent { return add(timer, forMode: mode) }
        timer.change { [self] in
            if isCurrent { return add(timer, forMode: mode) }
            if timer.membership.loop != nil {
                misuse("RunLoop.add(timer): the \(timer) is in another loop; remove it there first")
            }
            timer.end.move(to: handle) { [handle] in
                guard let core = RunLoop.coreOfThread(with: handle) else { return }
                timer.join(core.timers, of: core.members, mode)
            }
        }
    }
}

internal import CLibEvent
internal import Glibc

extension DescriptorSource {
    /// Without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    struct State: ~Copyable {
        var membership = Membership()
        var watch = Watch()
    }

    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    /// The side of the source that its loop keeps.
    var watch: Watch {
        @inline(__always) _read { yield state.value.watch }
        @inline(__always) _modify { yield &state.value.watch }
    }

    /// The side of a source that its loop keeps.
    struct Watch: ~Copyable {
        /// The sources of the loop that the source is in; nil while it is in none.
        var list: LoopDescriptors?
        /// Exists while the source is in a loop.
        var event: Event?
        /// Keeps a set of descriptors in the kernel's set while other modes run; nil for all other descriptors.
        ///
        /// It waits for an event that a set never has. To add a set, the kernel looks at each of its members, which took 264 µs
        /// with 9,000 of them; to watch it again for reading, 0.24 µs.
        var place: Event?
        /// The interest that the event is made for.
        var interest = Interest()
        /// In the loop's list of changes that the kernel has not got.
        var isChanged = false
        /// In the kernel's set.
        var isOn = false
        /// In the loop's list of ready descriptors.
        var isReady = false
        /// The handler is on the stack.
        var isServing = false
        /// The kernel reported it again while the handler was on the stack.
        var becameReadyMeanwhile = false
        /// The events that libevent has reported, and the number of times that the kernel had been asked then; no events if the
        /// report does not count.
        var events: CInt = 0
        var asks: UInt64 = 0
        /// The number of reports before the descriptor is looked at again: its number may be another file's by now.
        var reportsUntilCheck = 0
        /// Asked to be served again when the handler has returned.
        var isToBeServed = false
        /// The kernel's refusal to put it into its set, if there was one.
        var refusal = Refusal.none
        /// The position of the source in the loop's list of descriptors.
        var position = 0
    }
}

extension DescriptorSource: LoopInput {
    var keepsModeAlive: Bool { !standsForInput }

    func join(_ list: LoopDescriptors, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, !list.members.hasEnded else { return }
        if let other = membership.loop, other !== list.members {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        if membership.loop == nil {
            try list.append(self) { () throws(SystemError) in try startWatching(list.poller) }
            watch.list = list
        }
        list.members.add(self, to: mode)
        update()
    }

    private func startWatching(_ poller: Poller) throws(SystemError) {
        var event = try Event(poller.base)
        prepare(&event, poller)
        try event.watch()
        if watchesSet {
            let place = try unsafe Event(poller.base, descriptor, EV_CLOSED, context: nil) { _, _, _ in }
            try place.watch()
            watch.place = consume place
        }
        watch.event = consume event
        watch.interest = interest
        watch.reportsUntilCheck = 0
        watch.isOn = true
        poller.watchCount += 1
    }

    /// Makes an event that is not watched stand for the descriptor and the interest.
    private func prepare(_ event: inout Event, _ poller: Poller) {
        var flags = trigger == .edge ? EV_ET : 0
        if interest.contains(.read) { flags |= EV_READ | EV_CLOSED }
        if interest.contains(.write) { flags |= EV_WRITE }
        // Safe: the event is freed, or made to stand for another source, before this object is destroyed.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe event.assign(poller.base, descriptor, flags, context: context) { _, events, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<DescriptorSource>.fromOpaque(context).takeUnretainedValue().noteReady(
                CInt(events))
        }
    }

    func didLeave(_ loop: LoopMembers) {
        guard let list = watch.list else { return }
        if watch.isChanged {
            watch.isChanged = false
            list.forgetChange(of: self)
        }
        setWatched(false, in: list)
        watch.event = nil
        watch.place = nil
        watch.list = nil
        let wasOpen = list.remove(self)
        // At its end the loop asks the kernel no more, so it does not matter which comes first.
        if !wasOpen && !loop.hasEnded { endForClosedDescriptor() }
        if loop.hasEnded { invalidate() }
    }

    /// Brings the kernel's set up to date after this source has joined or left a mode.
    func update() {
        guard let list = watch.list, let mode = list.watchedMode else { return }
        setWanted(membership.contains(mode), in: list)
    }

    /// Brings the kernel's set up to date: `wanted` is true if this source is in the mode that is watched.
    func setWanted(_ wanted: Bool, in list: LoopDescriptors) {
        // A level-triggered one whose handler is on the stack would be reported for ever; it is watched
        // again when the handler has returned.
        setWatched(wanted && !(watch.isServing && watch.becameReadyMeanwhile && trigger == .level), in: list)
    }

    private func setWatched(_ wanted: Bool, in list: LoopDescriptors) {
        if !wanted { watch.refusal = .none }
        if wanted == watch.isOn { return }
        if wanted {
            if watch.refusal != .none && !list.retriesNow() { return }
            if !list.stillHolds(descriptor) { endForClosedDescriptor() }
            do throws(SystemError) { try watch.event?.watch() } catch { return wasRefused(error, in: list) }
            watch.refusal = .none
        } else {
            watch.event?.unwatch()
        }
        watch.isOn = wanted
        list.poller.watchCount += wanted ? 1 : -1
    }

    /// Puts the source in line for a change that the kernel is to get.
    func interestDidChange() {
        guard let list = watch.list, !watch.isChanged else { return }
        watch.isChanged = true
        list.noteChange(of: self)
    }

    /// Has the kernel watch the descriptor for the interest of now.
    ///
    /// The new event is added before the old one is removed, for which one call of the kernel is enough in most cases.
    func makeChange(in list: LoopDescriptors) {
        watch.isChanged = false
        if watch.interest == interest { return }
        // Otherwise libevent would add the file that has the number now.
        if watch.isOn && !list.stillHolds(descriptor) { endForClosedDescriptor() }
        var next = list.takeSpareEvent()
        prepare(&next, list.poller)
        var refusal: SystemError?
        if watch.isOn { do throws(SystemError) { try next.watch() } catch { refusal = error } }
        if let event = watch.event.take() {
            event.unwatch()
            list.keepSpareEvent(event)
        }
        watch.event = consume next
        watch.interest = interest
        guard let refusal else { return }
        watch.isOn = false
        list.poller.watchCount -= 1
        wasRefused(refusal, in: list)
    }

    /// The kernel reports the descriptor.
    ///
    /// Inside libevent: only note it.
    ///
    /// - Parameter events: libevent's report; 0 if it does not count any more.
    private func noteReady(_ events: CInt) {
        guard let list = watch.list else { return }
        if watch.isServing {
            watch.becameReadyMeanwhile = true
            return setWanted(watch.isOn, in: list)
        }
        // Each report is about all that the descriptor is ready for, also one of an edge.
        watch.events = events
        watch.asks = list.poller.asks
        if watch.isReady { return }
        watch.isReady = true
        list.append(ready: self)
    }

    /// Calls the handler, if the descriptor is ready still.
    ///
    /// - Returns: True if there was anything to serve.
    func serve(in list: LoopDescriptors) -> Bool {
        if case .untold(let error) = watch.refusal {
            tellRefusal(error, by: list.members.handlers)
            return false
        }
        if let relay {
            relay()
            return false
        }
        guard let handler else { return false }
        if !standsForInput { checkSometimes(in: list) }
        let readiness = standsForInput ? .readable : readiness(in: list)
        if readiness.isEmpty { return false }
        watch.isServing = true
        var handled = false
        list.members.handlers.call(origin, as: .descriptor) { handled = handler(self, readiness) }
        watch.isServing = false
        if watch.becameReadyMeanwhile, isValid, watch.list === list {
            watch.becameReadyMeanwhile = false
            switch trigger {
            case .level: update()
            case .edge: noteReady(0)
            }
        }
        watch.becameReadyMeanwhile = false
        if watch.isToBeServed {
            watch.isToBeServed = false
            becomeReady()
        }
        return handled
    }

    /// Puts the source in line to be served, even if the kernel reports nothing; while its handler is on the stack, when that
    /// has returned.
    func becomeReady() {
        guard let list = watch.list, !watch.isReady else { return }
        if watch.isServing {
            watch.isToBeServed = true
            return
        }
        watch.isReady = true
        list.append(ready: self)
    }

    /// Ends the program: the loop has found that the source watches nothing any more, or what it must not.
    func endForClosedDescriptor() -> Never {
        misuse(
            "RunLoop: the descriptor of the \(self) was closed; invalidate the source first, and close the descriptor then"
        )
    }

    /// Ends the program: another source of the loop watches the descriptor with the other trigger.
    func endForOtherTrigger() -> Never {
        misuse(
            "RunLoop.add(source): the \(self) is \(trigger)-triggered, and another one in this loop watches "
                + "that descriptor otherwise; give all of them one trigger")
    }
}

internal import CLibEvent
internal import Glibc

extension DescriptorSource {
    /// The mutable state of a descriptor source.
    ///
    /// The state is stored without the exclusivity checks of class properties; see ``ExclusivityUnchecked`` for the reason.
    struct State: ~Copyable {
        var membership = Membership()
        var watch = Watch()
        /// The interest that the user has set, which the loop has not necessarily passed to the kernel yet.
        var interest: Interest

        init(_ interest: Interest) { self.interest = interest }
    }

    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    /// The part of the source's state that its loop maintains.
    var watch: Watch {
        @inline(__always) _read { yield state.value.watch }
        @inline(__always) _modify { yield &state.value.watch }
    }

    /// Whether the handler of the source, or of the input that it represents, is on the stack.
    enum Serving {
        case no
        case underWay
        /// It is, and the kernel has reported the descriptor again meanwhile.
        case underWayAndReported
    }

    /// The part of a source's state that its loop maintains.
    struct Watch: ~Copyable {
        /// The list of all descriptor sources of this source's loop; nil while the source is in no loop.
        var list: LoopDescriptors?
        /// The event with which libevent watches the descriptor; nil while the source is in no loop.
        var event: Event?
        /// A second event, for a descriptor that is itself an epoll set; nil for all other descriptors.
        ///
        /// While the loop runs in modes that do not contain the source, this event keeps the descriptor in the kernel's set. The
        /// event waits for a readiness that an epoll set never reports. Without this event, the descriptor would leave the kernel's
        /// set and be added again later. When an epoll set is added, the kernel checks each of its members, which took 264 µs for
        /// 9,000 members. For a descriptor that was still in the set, watching it for reading again took 0.24 µs.
        var place: Event?
        /// The interest that `event` was made for.
        var interest = Interest()
        /// True if the source is in the loop's list of changes that have not yet been passed to the kernel.
        var isChanged = false
        /// Whether libevent watches `event`.
        var watching = Watching.off
        var isOn: Bool { if case .on = watching { true } else { false } }
        /// True if the source is in the loop's list of ready descriptors.
        var isReady = false
        var serving = Serving.no
        /// The events of libevent's last report; 0 if the source was queued again after its handler, without a new report.
        var events: CInt = 0
        /// The number of times that the loop had polled the kernel when `events` was stored; see ``Poller/asks``.
        var asks: UInt64 = 0
        /// The number of further reports before the loop checks again that the descriptor still refers to the same file.
        var reportsUntilCheck = 0
        /// The position of the source in the loop's list of descriptors.
        var position = 0
        /// True while a removal takes effect that another thread has handed over; the descriptor may be closed already.
        var isRemovedElsewhere = false
    }
}

extension DescriptorSource: LoopInput {
    var keepsModeAlive: Bool { relay == nil }
    var unservedParts: [Unserved] { keepsModeAlive ? [Unserved("source", madeAt: origin)] : [] }

    func join(_ list: LoopDescriptors, _ mode: Mode) throws(SystemError) {
        guard isValid, !list.members.hasEnded else { return }
        if let other = membership.loop, other !== list.members {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        guard end.join(list.members.handle) else { return }
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
        watch.watching = .on
        poller.watchCount += 1
    }

    /// Sets up an event, which is not watched yet, for the source's descriptor and interest.
    ///
    /// An event of an empty interest can be watched, too: libevent then gives no descriptor to the kernel.
    private func prepare(_ event: inout Event, _ poller: Poller) {
        var flags = trigger == .edge ? EV_ET : 0
        if interest.contains(.read) { flags |= EV_READ | EV_CLOSED }
        if interest.contains(.write) { flags |= EV_WRITE }
        // Safe: the event is freed, or prepared for another source, before this object is destroyed.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe event.assign(poller.base, descriptor, flags, context: context) { _, events, context in
            guard let context = unsafe context else { return }
            // The loop holds the source, so no reference is taken for each report.
            unsafe Unmanaged<DescriptorSource>.fromOpaque(context)._withUnsafeGuaranteedRef {
                $0.noteReady(CInt(events))
            }
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
        // A loop that has ended no longer polls the kernel, so a closed descriptor does no harm there.
        if !wasOpen && !loop.hasEnded && !end.wasHandedOver && !watch.isRemovedElsewhere {
            endForClosedDescriptor()
        }
        if loop.hasEnded { endHere() }
    }

    /// Starts or stops watching the descriptor, after this source has joined or left a mode.
    func update() {
        guard let list = watch.list, let mode = list.watchedMode else { return }
        setWanted(membership.contains(mode), in: list)
    }

    /// Starts or stops watching the descriptor.
    ///
    /// The caller sets `wanted` to true if this source is in the mode whose descriptors the kernel watches.
    func setWanted(_ wanted: Bool, in list: LoopDescriptors) {
        // If the kernel reports a level-triggered descriptor while its handler is on the stack, watching pauses until the handler
        // has returned. Otherwise the kernel would report the descriptor endlessly.
        setWatched(wanted && !(watch.serving == .underWayAndReported && trigger == .level), in: list)
    }

    private func setWatched(_ wanted: Bool, in list: LoopDescriptors) {
        switch watch.watching {
        case .on:
            if wanted { return }
            watch.event?.unwatch()
            watch.watching = .off
            list.poller.watchCount -= 1
        case .off:
            if wanted { startAgain(in: list) }
        case .refused, .refusedAndTold:
            if !wanted { watch.watching = .off } else if list.retriesNow() { startAgain(in: list) }
        }
    }

    private func startAgain(in list: LoopDescriptors) {
        if !holdsDescriptor(in: list) { return }
        do throws(SystemError) { try watch.event?.watch() } catch { return wasRefused(error, in: list) }
        watch.watching = .on
        list.poller.watchCount += 1
    }

    /// Records that the source's interest has changed, so that the loop passes the change to the kernel before it next polls.
    func interestDidChange() {
        guard let list = watch.list, !watch.isChanged else { return }
        watch.isChanged = true
        list.noteChange(of: self)
    }

    /// Makes the kernel watch the descriptor for the source's present interest.
    ///
    /// The new event is added before the old event is removed, so that one system call is enough in most cases.
    func makeChange(in list: LoopDescriptors) {
        watch.isChanged = false
        if watch.interest == interest { return }
        // Without this check, libevent would watch another file if the descriptor was closed and its number belongs to that file
        // now.
        if watch.isOn && !holdsDescriptor(in: list) { return }
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
        list.poller.watchCount -= 1
        wasRefused(refusal, in: list)
    }

    /// Records that the kernel has reported the descriptor as ready, and queues the source to be served.
    ///
    /// This is called inside libevent, so it calls no handler.
    ///
    /// - Parameter events: libevent's report; 0 to queue the source without a report.
    private func noteReady(_ events: CInt) {
        guard let list = watch.list else { return }
        if watch.serving != .no {
            watch.serving = .underWayAndReported
            return setWanted(watch.isOn, in: list)
        }
        // Each report, even with the edge trigger, contains the complete readiness of the descriptor.
        watch.events = events
        watch.asks = list.poller.asks
        if watch.isReady { return }
        watch.isReady = true
        list.append(ready: self)
    }

    /// Calls the handler, if the descriptor is still ready.
    ///
    /// - Returns: True if the handler had an event to serve.
    func serve(in list: LoopDescriptors) -> Bool {
        if case .refused(let error) = watch.watching {
            tellRefusal(error, in: list.members)
            return false
        }
        if let relay {
            relay()
            return false
        }
        // The handler is copied only where it is called, because each copy changes a reference count.
        if handler == nil { return false }
        checkSometimes(in: list)
        let readiness = readiness(in: list)
        if readiness.isEmpty || !list.members.admits(self) { return false }
        var handled = false
        whileServing {
            list.members.handlers.call(origin, as: .descriptor) {
                handled = handler?(self, readiness) ?? false
            }
        }
        return handled
    }

    /// Calls a closure that calls the handler of this source, or of the input that this source represents.
    ///
    /// If the closure runs the loop, that run does not serve this source. Readiness that the kernel reports in that run is served
    /// afterwards.
    func whileServing(_ serve: () -> Void) {
        let list = watch.list
        watch.serving = .underWay
        serve()
        let wasReported = watch.serving == .underWayAndReported
        watch.serving = .no
        guard wasReported, isValid, watch.list === list else { return }
        switch trigger {
        case .level: update()
        case .edge: noteReady(0)
        }
    }

    /// Ends the program because another source of the loop watches the same descriptor with a different trigger.
    func endForOtherTrigger() -> Never {
        misuse(
            "RunLoop.add(source): the \(self) is \(trigger)-triggered, and another one in this loop watches "
                + "that descriptor otherwise; give all of them one trigger")
    }
}

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

    /// What the loop keeps for it.
    var watch: Watch {
        @inline(__always) _read { yield state.value.watch }
        @inline(__always) _modify { yield &state.value.watch }
    }

    /// The side of a source that its loop keeps.
    struct Watch: ~Copyable {
        /// Exists while the source is in a loop.
        var event: Event?
        /// In the kernel's set.
        var isOn = false
        /// In the loop's list of ready descriptors.
        var isReady = false
        /// The handler is on the stack.
        var isServing = false
        /// The kernel reported it again while the handler was on the stack.
        var becameReadyMeanwhile = false
        /// Whether the kernel has refused to put it into its set.
        var refusal = Refusal.none
        /// Where the source stands in the loop's list of descriptors.
        var position = 0
    }
}

extension DescriptorSource: LoopInput {
    var keepsModeAlive: Bool { true }

    func join(_ core: LoopCore, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, !core.hasEnded else { return }
        if let other = membership.loop, other !== core {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        if membership.loop == nil {
            try enterDescriptor(core)
            do { try startWatching(core) } catch {
                _ = core.watchedDescriptors.leave(descriptor)
                throw error
            }
            watch.position = core.descriptors.count
            core.descriptors.append(self)
        }
        core.add(self, to: mode)
        update(in: core)
    }

    /// Has the loop remember which file the descriptor is.
    private func enterDescriptor(_ core: LoopCore) throws(SystemError) {
        switch try core.watchedDescriptors.join(descriptor, trigger) {
        case .admitted: break
        case .otherTrigger:
            misuse(
                "RunLoop.add(source): the \(self) is \(trigger)-triggered, and another one in this loop watches "
                    + "that descriptor otherwise; give all of them one trigger")
        case .otherFile:
            let other = core.descriptors.first { $0.descriptor == descriptor }
            guard let other else {
                preconditionFailure("a descriptor that is known has a source in the loop")
            }
            other.endForClosedDescriptor()
        }
    }

    private func startWatching(_ core: LoopCore) throws(SystemError) {
        var flags = trigger == .edge ? EV_ET : 0
        if interest.contains(.read) { flags |= EV_READ }
        if interest.contains(.write) { flags |= EV_WRITE }
        // Safe: the event is freed with this object, or before.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let event = try unsafe Event(core.poller.base, descriptor, flags, context: context) { _, _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<DescriptorSource>.fromOpaque(context).takeUnretainedValue().noteReady()
        }
        try event.watch()
        watch.event = consume event
        watch.isOn = true
        core.poller.watchCount += 1
    }

    func didLeave(_ loop: LoopCore) {
        setWatched(false, in: loop)
        watch.event = nil
        let wasOpen = loop.watchedDescriptors.leave(descriptor)
        // At its end the loop asks the kernel no more, so it does not matter which comes first.
        if !wasOpen && !loop.hasEnded { endForClosedDescriptor() }
        let last = loop.descriptors.removeLast()
        if last !== self {
            loop.descriptors[watch.position] = last
            last.watch.position = watch.position
        }
        if loop.hasEnded { invalidate() }
    }

    /// Brings the kernel's set up to date after this source has joined or left a mode.
    func update(in core: LoopCore) {
        guard membership.loop === core, let mode = core.watchedMode else { return }
        setWanted(membership.contains(mode), in: core)
    }

    /// The watched mode is another one: `wanted` says whether this source is in it.
    func setWanted(_ wanted: Bool, in core: LoopCore) {
        // A level-triggered one whose handler is on the stack would be reported for ever; it is watched
        // again when the handler has returned.
        setWatched(wanted && !(watch.isServing && watch.becameReadyMeanwhile && trigger == .level), in: core)
    }

    private func setWatched(_ wanted: Bool, in core: LoopCore) {
        if !wanted { watch.refusal = .none }
        if wanted == watch.isOn { return }
        if wanted {
            if watch.refusal != .none && !core.watchRetry.isDue { return core.watchRetry.leaveOut() }
            if !core.watchedDescriptors.holds(descriptor) { endForClosedDescriptor() }
            do throws(SystemError) { try watch.event?.watch() } catch { return wasRefused(error, in: core) }
            watch.refusal = .none
        } else {
            watch.event?.unwatch()
        }
        watch.isOn = wanted
        core.poller.watchCount += wanted ? 1 : -1
    }

    /// The kernel reports the descriptor.
    ///
    /// Inside libevent: only note it.
    private func noteReady() {
        guard let loop = membership.loop else { return }
        if watch.isServing {
            watch.becameReadyMeanwhile = true
            setWanted(watch.isOn, in: loop)
        } else if !watch.isReady {
            watch.isReady = true
            loop.readyDescriptors.append(self)
        }
    }

    /// Calls the handler, if the descriptor is ready still.
    ///
    /// - Returns: Whether there was anything to serve.
    func serve(in core: LoopCore) -> Bool {
        if case .untold(let error) = watch.refusal {
            tellRefusal(error, in: core)
            return false
        }
        if let relay {
            relay()
            return false
        }
        guard let handler else { return false }
        let readiness = currentReadiness()
        if readiness.isEmpty {
            // Another handler has emptied it; or the number is another file's by now, and the kernel reports the one that
            // the source watched, because a copy of it is open.
            if !core.watchedDescriptors.holds(descriptor) { endForClosedDescriptor() }
            return false
        }
        watch.isServing = true
        var handled = false
        core.callHandler(origin, as: .descriptor) { handled = handler(self, readiness) }
        watch.isServing = false
        if watch.becameReadyMeanwhile, isValid, membership.loop === core {
            watch.becameReadyMeanwhile = false
            switch trigger {
            case .level: update(in: core)
            case .edge: noteReady()
            }
        }
        watch.becameReadyMeanwhile = false
        return handled
    }

    /// Asks the kernel what the descriptor is ready for now: another handler may have emptied it since it was
    /// reported, and libevent folds hang-ups and errors into reading and writing.
    private func currentReadiness() -> Readiness {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        if interest.contains(.read) { entry.events |= Int16(POLLIN | runloops_poll_hang_up) }
        if interest.contains(.write) { entry.events |= Int16(POLLOUT) }
        // Safe: the kernel reads and fills our own value.
        while unsafe poll(&entry, 1, 0) == -1 && errno == EINTR {}
        let events = CInt(entry.revents)
        if events & POLLNVAL != 0 { endForClosedDescriptor() }
        var readiness: Readiness = []
        if events & POLLIN != 0 { readiness.insert(.readable) }
        if events & POLLOUT != 0 { readiness.insert(.writable) }
        if events & (POLLHUP | runloops_poll_hang_up) != 0 { readiness.insert(.hangUp) }
        if events & POLLERR != 0 { readiness.insert(.error) }
        return readiness
    }

    /// Ends the program: the loop has found that the source watches nothing any more, or what it must not.
    private func endForClosedDescriptor() -> Never {
        misuse(
            "RunLoop: the descriptor of the \(self) was closed; invalidate the source first, and close the descriptor then"
        )
    }
}

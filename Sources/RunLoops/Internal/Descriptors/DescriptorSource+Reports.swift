internal import CLibEvent
internal import Glibc

// The kernel's reports that a descriptor is ready, and the cases in which the loop polls the descriptor again.

extension DescriptorSource {
    /// The readiness to report to the handler.
    ///
    /// Usually this is the readiness that the kernel has reported in this pass, which costs no system call. In three cases the loop
    /// polls the descriptor again instead:
    /// - The loop has polled the kernel since the report, for example in a run inside a handler.
    /// - Other sources of the loop watch the same descriptor, so their handlers can have read from it.
    /// - libevent's report is ambiguous, because it can also mean an error or a hang-up.
    func readiness(in list: LoopDescriptors) -> Readiness {
        if watch.asks == list.poller.asks, !list.isShared(descriptor),
            let reported = Readiness(libevent: watch.events, for: interest)
        {
            return reported
        }
        // The kernel reports errors and hang-ups without being asked, so a paused source does not ask it.
        if interest.isEmpty { return [] }
        let readiness = currentReadiness()
        // Either another handler has read all bytes, or the descriptor was closed and its number now belongs to another file. In
        // the second case the kernel still reports the file that the source watched, because a copy of the descriptor is open.
        if readiness.isEmpty { _ = holdsDescriptor(in: list) }
        return readiness
    }

    /// Ends the program if a check shows that the descriptor no longer refers to the same file.
    ///
    /// The check is necessary because the kernel continues to report a closed descriptor while a copy of it is open. The check
    /// takes a system call, so it is made only at the kernel's first report and then at one report in 32.
    func checkSometimes(in list: LoopDescriptors) {
        if watch.reportsUntilCheck > 0 {
            watch.reportsUntilCheck -= 1
            return
        }
        watch.reportsUntilCheck = DescriptorSource.reportsBetweenChecks
        _ = holdsDescriptor(in: list)
    }

    /// The number of reports that ``checkSometimes(in:)`` skips between two checks of a descriptor.
    static var reportsBetweenChecks: Int { 31 }

    /// Polls the kernel for the present readiness of the descriptor.
    private func currentReadiness() -> Readiness {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        if interest.contains(.read) { entry.events |= Int16(POLLIN | runloops_poll_hang_up) }
        if interest.contains(.write) { entry.events |= Int16(POLLOUT) }
        // Safe: the kernel reads and fills a local value.
        while unsafe poll(&entry, 1, 0) == -1 && errno == EINTR {}
        let events = CInt(entry.revents)
        var readiness: Readiness = []
        if events & POLLNVAL != 0 {
            descriptorWasClosed()
            return readiness
        }
        if events & POLLIN != 0 { readiness.insert(.readable) }
        if events & POLLOUT != 0 { readiness.insert(.writable) }
        if events & (POLLHUP | runloops_poll_hang_up) != 0 { readiness.insert(.hangUp) }
        if events & POLLERR != 0 { readiness.insert(.error) }
        return readiness
    }
}

extension DescriptorSource.Readiness {
    /// Makes a readiness from a report of libevent; nil if the report is ambiguous.
    ///
    /// libevent reports an error, or a hang-up of both directions, as `EV_READ | EV_WRITE`, which can also mean that the descriptor
    /// is readable and writable.
    ///
    /// - Parameters:
    ///   - events: libevent's report, which combines `EV_READ`, `EV_WRITE` and `EV_CLOSED`.
    ///   - interest: The interest of the only source in the loop that watches the descriptor.
    init?(libevent events: CInt, for interest: DescriptorSource.Interest) {
        let parts = events & (EV_READ | EV_WRITE | EV_CLOSED)
        if parts == 0 || parts == EV_READ | EV_WRITE { return nil }
        self = []
        if parts & EV_READ != 0 && interest.contains(.read) { insert(.readable) }
        if parts & EV_WRITE != 0 && interest.contains(.write) { insert(.writable) }
        if parts & EV_CLOSED != 0 && interest.contains(.read) { insert(.hangUp) }
    }
}

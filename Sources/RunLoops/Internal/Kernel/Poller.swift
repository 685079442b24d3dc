internal import CLibEvent
internal import CRunLoops

/// Sleeps on behalf of a loop, until a sender writes to the loop's ``Wakeup``, the loop's alarm fires, or a descriptor is ready.
///
/// The callbacks of libevent only record the ready descriptors. Handlers run after ``wait(until:)`` or ``poll()`` has returned. So
/// a handler can wait again, and no user code ever runs inside libevent.
final class Poller {
    // Properties are destroyed in this order, so an event is freed before its base.
    private var wakeupEvent: Event?
    private var alarmEvent: Event?
    /// The libevent base, which watches the poller's descriptors.
    ///
    /// It is stored without exclusivity checks; see ``ExclusivityUnchecked`` for the reason.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var ownBase: EventBase
    /// The alarm, which is set before each sleep.
    ///
    /// It is stored without exclusivity checks; see ``ExclusivityUnchecked`` for the reason.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var alarm: Alarm

    /// True while the thread is in the kernel.
    ///
    /// If this is true at the thread's end, the thread was cancelled in the kernel. libevent's call has not returned then, so
    /// libevent cannot be called again.
    private(set) var isInKernel = false

    /// The number of times that the poller has polled the kernel.
    ///
    /// The kernel's report about a descriptor is up to date if this number has not changed since the report.
    private(set) var asks: UInt64 = 0

    /// The number of sources whose descriptors are in the poller's epoll set.
    var watchCount = 0

    /// Creates the poller's timerfd and epoll set; if one of them cannot be created, closes the other.
    ///
    /// - Parameter wakeup: The descriptor that senders write to. It outlives the poller.
    /// - Throws: `SystemError` if the kernel refuses an object.
    init(wakeup: CInt) throws(SystemError) {
        alarm = try Alarm()
        ownBase = try EventBase(after: alarm.descriptor)
        let interest = EV_READ | EV_ET
        let wakeupEvent = try unsafe Event(ownBase, wakeup, interest, context: nil) { _, _, _ in }
        // Safe: the callback runs only inside `wait` and `poll`, while this object is in use.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let alarmEvent = try unsafe Event(ownBase, alarm.descriptor, interest, context: context) {
            _, _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Poller>.fromOpaque(context).takeUnretainedValue().alarm.hasFired()
        }
        try wakeupEvent.watch()
        try alarmEvent.watch()
        self.wakeupEvent = consume wakeupEvent
        self.alarmEvent = consume alarmEvent
    }

    /// The libevent base, for which the loop's inputs make their events.
    var base: EventBase { @inline(__always) _read { yield ownBase } }

    /// Closes the poller's descriptors.
    ///
    /// The events of all sources must have been freed before this call. The loop calls this at the end of the thread, and does not
    /// rely on `deinit`: if a handler ends the thread, or the thread is cancelled, the references on its stack are never released.
    func end() {
        wakeupEvent = nil
        alarmEvent = nil
        ownBase.end()
        alarm.end()
    }

    /// Sleeps until a descriptor is ready, or until `moment` at the latest.
    ///
    /// - Returns: The number of system calls that this method has made.
    func wait(until moment: Moment) -> Int {
        let calls = moment != .never && alarm.set(moment) ? 2 : 1
        askKernel(blocking: true)
        return calls
    }

    /// Records the ready descriptors, with one system call and without sleeping.
    func poll() { askKernel(blocking: false) }

    /// Sets the alarm, so that the poller's descriptor becomes readable at `moment` at the latest.
    ///
    /// The poller's descriptor is the one that ``findDescriptor(wakeup:)`` returns.
    ///
    /// - Returns: The number of system calls that this method has made.
    func setAlarm(_ moment: Moment) -> Int { alarm.set(moment) ? 1 : 0 }

    /// Finds the descriptor of the poller's epoll set.
    ///
    /// The descriptor is readable as long as a call of ``poll()`` would find a ready descriptor.
    ///
    /// libevent has no function that returns this descriptor, so the method searches `/proc` for it.
    ///
    /// - Parameter wakeup: The descriptor that the poller was made with.
    /// - Returns: The descriptor, which the poller closes at its end.
    /// - Throws: `SystemError` if `/proc` cannot be read.
    func findDescriptor(wakeup: CInt) throws(SystemError) -> CInt {
        try systemCall("open /proc/self/fdinfo") { runloops_find_epoll_set(wakeup, alarm.descriptor) }
    }

    private func askKernel(blocking: Bool) {
        isInKernel = true
        asks &+= 1
        ownBase.reference.wait(blocking: blocking)
        isInKernel = false
    }
}

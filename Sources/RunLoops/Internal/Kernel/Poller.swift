internal import CEventBase
internal import CLibEvent

/// The sleep of a loop, until a sender writes, the loop's alarm fires, or a descriptor is ready.
///
/// The callbacks of libevent only record which descriptors are ready. Handlers run after ``wait(until:)`` or ``poll()`` has
/// returned. So a handler may wait again, and no user code ever runs inside libevent.
final class Poller {
    // Properties are destroyed in this order, so an event is freed before its base.
    private var wakeupEvent: Event?
    private var alarmEvent: Event?
    /// The base, stored without exclusivity checks; see ``ExclusivityUnchecked`` for the reason.
    private let ownBase: ExclusivityUnchecked<EventBase>
    /// The alarm, which is set before each sleep.
    ///
    /// It is stored without exclusivity checks; see ``ExclusivityUnchecked`` for the reason.
    private let alarm: ExclusivityUnchecked<Alarm>

    /// True while the thread is in the kernel.
    ///
    /// At the thread's end, true if the thread was cancelled in the kernel.
    ///
    /// In that case libevent's call has not returned, so libevent cannot be called again.
    private(set) var isInKernel = false

    /// The number of times that the kernel was polled.
    ///
    /// A report is up to date if this number has not changed since.
    private(set) var asks: UInt64 = 0

    /// The number of descriptors of sources in the kernel's set.
    var watchCount = 0

    /// Creates the kernel's objects; if that fails, leaves none open.
    ///
    /// - Parameter wakeup: The descriptor that senders write to. It outlives the poller.
    /// - Throws: `SystemError` if the kernel refuses one of them.
    init(wakeup: CInt) throws(SystemError) {
        alarm = ExclusivityUnchecked(try Alarm())
        ownBase = ExclusivityUnchecked(try EventBase())
        let interest = EV_READ | EV_ET
        let wakeupEvent = try unsafe Event(ownBase.value, wakeup, interest, context: nil) { _, _, _ in }
        // Safe: the callback runs only inside `wait` and `poll`, while this object is in use.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let alarmEvent = try unsafe Event(ownBase.value, alarm.value.descriptor, interest, context: context) {
            _, _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Poller>.fromOpaque(context).takeUnretainedValue().alarm.value.hasFired()
        }
        try wakeupEvent.watch()
        try alarmEvent.watch()
        self.wakeupEvent = consume wakeupEvent
        self.alarmEvent = consume alarmEvent
    }

    /// The base that events are made for.
    var base: EventBase { @inline(__always) _read { yield ownBase.value } }

    /// Closes the kernel's objects, after all events of others were freed.
    ///
    /// Called at the end of the thread, and not by `deinit`: if a handler ends the thread, or the thread is cancelled, the
    /// references on its stack are never released.
    func end() {
        wakeupEvent = nil
        alarmEvent = nil
        ownBase.value.end()
        alarm.value.end()
    }

    /// Sleeps until a descriptor is ready, or at the latest until a moment.
    ///
    /// - Returns: The number of system calls that it took.
    func wait(until moment: Moment) -> Int {
        let calls = alarm.value.set(moment) ? 2 : 1
        askKernel(blocking: true)
        return calls
    }

    /// Records which descriptors are ready, with one system call and without sleeping.
    func poll() { askKernel(blocking: false) }

    /// Sets the alarm, so that ``findDescriptor(wakeup:)`` becomes readable no later than a moment.
    ///
    /// - Returns: The number of system calls that it took.
    func setAlarm(_ moment: Moment) -> Int { alarm.value.set(moment) ? 1 : 0 }

    /// Finds the descriptor that is readable while ``poll()`` has something to report.
    ///
    /// - Parameter wakeup: The descriptor that the poller was made with.
    /// - Returns: The descriptor, which the poller closes at its end.
    /// - Throws: `SystemError` if `/proc` cannot be read.
    func findDescriptor(wakeup: CInt) throws(SystemError) -> CInt {
        try systemCall("open /proc/self/fdinfo") { runloops_find_epoll_set(wakeup, alarm.value.descriptor) }
    }

    private func askKernel(blocking: Bool) {
        isInKernel = true
        asks &+= 1
        ownBase.value.wait(blocking: blocking)
        isInKernel = false
    }
}

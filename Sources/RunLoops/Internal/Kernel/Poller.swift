internal import CLibEvent

/// Where a loop sleeps, until a sender writes, its alarm fires, or a descriptor is ready.
///
/// Callbacks of libevent's only note what is ready; handlers run after ``wait()`` or ``poll()`` has
/// returned. So a handler may wait again, and no user code is ever inside libevent.
final class Poller {
    // In this order, because they are destroyed in it: an event is freed before its base.
    private var wakeupEvent: Event?
    private var alarmEvent: Event?
    /// Without the checks that a class's properties cost, as is the next one.
    private let ownBase: ExclusivityUnchecked<EventBase>
    /// Set before each sleep: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let alarm: ExclusivityUnchecked<Alarm>

    /// Whether the thread is in the kernel; at its end: whether it was cancelled there.
    ///
    /// libevent, which has not returned then, cannot be asked again.
    private(set) var isInKernel = false

    /// How many descriptors of sources are in the kernel's set.
    var watchCount = 0

    /// Makes the kernel's objects, or opens nothing.
    ///
    /// - Parameter wakeup: What senders write to; it outlives the poller.
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

    /// What events are made for.
    var base: EventBase { @inline(__always) _read { yield ownBase.value } }

    /// Closes the kernel's objects, when all events of others were freed.
    ///
    /// By the end of the thread, and not of this object: a thread that a handler has ended, or that was cancelled, never lets
    /// go of what its stack holds.
    func end() {
        wakeupEvent = nil
        alarmEvent = nil
        ownBase.value.end()
        alarm.value.end()
    }

    /// Sleeps until something is ready, at the latest at `moment`.
    ///
    /// - Returns: How many system calls it took.
    func wait(until moment: Moment) -> Int {
        let calls = alarm.value.set(moment) ? 2 : 1
        askKernel(blocking: true)
        return calls
    }

    /// Looks what is ready, without sleeping: one system call.
    func poll() { askKernel(blocking: false) }

    private func askKernel(blocking: Bool) {
        isInKernel = true
        ownBase.value.wait(blocking: blocking)
        isInKernel = false
    }
}

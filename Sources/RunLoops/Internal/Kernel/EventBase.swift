internal import CLibEvent
internal import CRunLoops
internal import Glibc

/// A libevent base on epoll, without libevent's locks and timers.
///
/// `@safe`: the pointer is valid from `init` to `end` or `deinit`, and never leaves the types of this file.
@safe
struct EventBase: ~Copyable {
    /// libevent's base; nil after ``end()`` was called.
    fileprivate private(set) var pointer: OpaquePointer?

    /// Creates a base.
    ///
    /// Call this only within ``LoopOpening/serialize(_:)``.
    ///
    /// - Parameter latest: A descriptor that was opened just before.
    /// - Throws: `SystemError` if the kernel refuses a descriptor, or there is no memory.
    init(after latest: CInt) throws(SystemError) {
        EventLog.takeOver()
        try LoopOpening.requireDescriptors(3, after: latest)
        guard let config = unsafe event_config_new() else {
            throw SystemError(call: "event_config_new", code: ENOMEM)
        }
        defer { unsafe event_config_free(config) }
        // The base has no locks, because one thread uses it, and no cached times, because no timer of libevent is used.
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_NOLOCK.rawValue))
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_NO_CACHE_TIME.rawValue))
        // Environment variables must not choose the backend.
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_IGNORE_ENV.rawValue))
        // Of all backends only epoll supports edge triggering.
        unsafe event_config_require_features(config, CInt(EV_FEATURE_ET.rawValue))
        var wasLeft = false
        guard let base = unsafe runloops_make_event_base(config, &wasLeft) else {
            let code = errno
            if wasLeft { LoopOpening.lostDescriptor() }
            throw SystemError(call: wasLeft ? "pipe2" : "epoll_create1", code: code == 0 ? ENOMEM : code)
        }
        unsafe pointer = base
    }

    deinit { if let pointer = unsafe pointer { unsafe event_base_free(pointer) } }

    /// Closes the base's descriptors.
    ///
    /// All events of the base must have been freed before.
    mutating func end() {
        guard let ended = unsafe pointer else { return }
        unsafe pointer = nil
        unsafe event_base_free(ended)
    }

    /// A reference to the base, on which a loop waits.
    ///
    /// A thread can be cancelled while it waits. An access to the base would then never end, so the loop gets a reference first.
    var reference: Reference {
        guard let pointer = unsafe pointer else { preconditionFailure("a loop that has ended does not wait") }
        return unsafe Reference(pointer: pointer)
    }

    /// A reference to a base, which does not keep the base.
    ///
    /// `@safe`: it is used at once, while the owner keeps the base.
    @safe
    struct Reference {
        fileprivate let pointer: OpaquePointer

        /// Finds the ready descriptors, and calls the callbacks of their events.
        ///
        /// The method is never inlined, and keeps its name, so that a profile shows the idle time of loops below this symbol.
        ///
        /// - Parameter blocking: True to sleep until a descriptor is ready.
        @inline(never)
        func wait(blocking: Bool) {
            // Both cases need `EVLOOP_ONCE`. Without it libevent polls again until no descriptor is ready, which never happens while
            // a level-triggered descriptor has unread data.
            let flags = blocking ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK
            // Safe: only this thread uses the base, and no callback of the base calls this method.
            let result = unsafe event_base_loop(pointer, flags)
            if result < 0 {
                fatalError(
                    "RunLoop: the kernel refuses to wait (errno \(errno)); was a descriptor of the loop's closed?"
                )
            }
        }
    }
}

/// A libevent event for one descriptor, which the event's base watches or can watch.
///
/// `@safe`: the pointer is valid from `init` to `deinit`; the owner keeps the base and the context for longer.
@safe
struct Event: ~Copyable {
    private let pointer: OpaquePointer
    /// The libevent flags of the readiness that the event is for, such as `EV_READ`.
    private var interest: Int16 = 0

    /// Creates an event without a descriptor.
    init(_ base: borrowing EventBase) throws(SystemError) {
        guard let base = unsafe base.pointer else {
            preconditionFailure("an event is made before its base ends")
        }
        guard let event = unsafe event_new(base, -1, 0, { _, _, _ in }, nil) else {
            throw SystemError(call: "event_new", code: ENOMEM)
        }
        unsafe pointer = event
    }

    init(
        _ base: borrowing EventBase, _ descriptor: CInt, _ interest: CInt, context: UnsafeMutableRawPointer?,
        callback: event_callback_fn
    ) throws(SystemError) {
        try self.init(base)
        unsafe assign(base, descriptor, interest, context: context, callback: callback)
    }

    /// Gives the event a descriptor and a callback; the event must not be watched at that time.
    ///
    /// The callback gets all readiness that the kernel reports, even beyond `interest`. `runloops_watch_event` arranges that.
    mutating func assign(
        _ base: borrowing EventBase, _ descriptor: CInt, _ interest: CInt, context: UnsafeMutableRawPointer?,
        callback: event_callback_fn
    ) {
        self.interest = Int16(interest | EV_PERSIST)
        let result = unsafe event_assign(
            pointer, base.pointer, descriptor, self.interest, callback, context)
        precondition(result == 0, "libevent takes an interest in reading and writing")
    }

    deinit {
        unwatch()
        unsafe event_free(pointer)
    }

    /// Adds the event's descriptor to the base's epoll set, so that the kernel watches it.
    func watch() throws(SystemError) {
        errno = 0
        if unsafe runloops_watch_event(pointer) != 0 {
            throw SystemError(call: "epoll_ctl", code: errno == 0 ? EINVAL : errno)
        }
    }

    /// Removes the event's descriptor from the base's epoll set, so that the kernel no longer watches it.
    func unwatch() { unsafe runloops_unwatch_event(pointer, interest) }
}

internal import CEventBase
internal import CLibEvent
internal import Glibc

/// A libevent base on epoll, without libevent's locks and timers.
///
/// `@safe`: the pointer is libevent's own, from `init` to `end` or `deinit`, and never leaves the types of this file.
@safe
struct EventBase: ~Copyable {
    /// The base; nil once it has ended.
    fileprivate private(set) var pointer: OpaquePointer?

    /// Creates a base.
    ///
    /// Called within ``LoopOpening/serialize(_:)``.
    ///
    /// - Throws: `SystemError` if the kernel refuses a descriptor, or there is no memory.
    init() throws(SystemError) {
        EventLog.takeOver()
        try LoopOpening.requireDescriptors(3)
        guard let config = unsafe event_config_new() else {
            throw SystemError(call: "event_config_new", code: ENOMEM)
        }
        defer { unsafe event_config_free(config) }
        // Without locks, because one thread uses the base; without cached times, because no timer of libevent is used.
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_NOLOCK.rawValue))
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_NO_CACHE_TIME.rawValue))
        // Environment variables do not choose the backend.
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

    /// Closes the base's descriptors, after its last event was freed.
    mutating func end() {
        guard let ended = unsafe pointer else { return }
        unsafe pointer = nil
        unsafe event_base_free(ended)
    }

    /// Finds which descriptors are ready, and calls the callbacks of their events.
    ///
    /// Never inlined and never renamed: in a profile, the time below this symbol is idle time.
    ///
    /// - Parameter blocking: True to sleep until a descriptor is ready.
    @inline(never)
    func wait(blocking: Bool) {
        // `EVLOOP_ONCE` in both cases: without it libevent polls again until no descriptor is ready, which for a
        // level-triggered descriptor with unread data is never.
        let flags = blocking ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK
        guard let pointer = unsafe pointer else { preconditionFailure("a loop that has ended does not wait") }
        // Safe: the base is ours, used by one thread, and not inside one of its own callbacks.
        let result = unsafe event_base_loop(pointer, flags)
        if result < 0 {
            fatalError(
                "RunLoop: the kernel refuses to wait (errno \(errno)); was a descriptor of the loop's closed?"
            )
        }
    }
}

/// One descriptor of an event base, which the base may or may not be watching.
///
/// `@safe`: the event is ours from `init` to `deinit`; the owner keeps the base and the context for longer.
@safe
struct Event: ~Copyable {
    private let pointer: OpaquePointer
    /// The interest of the event, as libevent knows it.
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

    /// Assigns a descriptor to an event that is not watched.
    ///
    /// The callback gets everything that the kernel reports; `runloops_watch_event` explains why.
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

    /// Adds the descriptor to the kernel's set.
    func watch() throws(SystemError) {
        errno = 0
        if unsafe runloops_watch_event(pointer) != 0 {
            throw SystemError(call: "epoll_ctl", code: errno == 0 ? EINVAL : errno)
        }
    }

    /// Removes the descriptor from the kernel's set.
    func unwatch() { unsafe runloops_unwatch_event(pointer, interest) }
}

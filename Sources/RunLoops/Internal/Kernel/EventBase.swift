internal import CEventBase
internal import CLibEvent
internal import Glibc

/// A libevent base on epoll, without locks, without libevent's timers.
///
/// `@safe`: the pointer is libevent's own, from `init` to `end` or `deinit`, and never leaves this file's types.
@safe
struct EventBase: ~Copyable {
    /// Nil once it has ended.
    fileprivate private(set) var pointer: OpaquePointer?

    /// Makes a base.
    ///
    /// The calling thread has the turn of ``LoopOpening``.
    ///
    /// - Throws: `SystemError` if the kernel refuses a descriptor, or there is no memory.
    init() throws(SystemError) {
        EventLog.takeOver()
        try LoopOpening.requireDescriptors(3)
        guard let config = unsafe event_config_new() else {
            throw SystemError(call: "event_config_new", code: ENOMEM)
        }
        defer { unsafe event_config_free(config) }
        // Neither locks nor cached times: one thread, and no timers of libevent's.
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_NOLOCK.rawValue))
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_NO_CACHE_TIME.rawValue))
        // The environment does not choose how to poll.
        unsafe event_config_set_flag(config, CInt(EVENT_BASE_FLAG_IGNORE_ENV.rawValue))
        // Edge triggering excludes every way to poll but epoll.
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

    /// Closes its descriptors, after the last event of it was freed.
    mutating func end() {
        guard let ended = unsafe pointer else { return }
        unsafe pointer = nil
        unsafe event_base_free(ended)
    }

    /// Notes what is ready, by calling the events' callbacks.
    ///
    /// Never inlined and never renamed: in a profile, what is below this symbol is idle time.
    ///
    /// - Parameter blocking: Whether to sleep until something is ready.
    @inline(never)
    func wait(blocking: Bool) {
        // Once in either case: without it libevent asks again until nothing is ready, which for a level-triggered
        // descriptor that nobody has read is never.
        let flags = blocking ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK
        guard let pointer = unsafe pointer else { preconditionFailure("a loop that has ended does not wait") }
        // Safe: the base is ours, on the one thread that uses it, and not inside one of its own callbacks.
        let result = unsafe event_base_loop(pointer, flags)
        if result < 0 {
            fatalError(
                "RunLoop: the kernel refuses to wait (errno \(errno)); was a descriptor of the loop's closed?"
            )
        }
    }
}

/// One descriptor that an event base watches, or does not watch at the moment.
///
/// `@safe`: the event is ours from `init` to `deinit`; the owner keeps the base, and the context, longer.
@safe
struct Event: ~Copyable {
    private let pointer: OpaquePointer

    init(
        _ base: borrowing EventBase, _ descriptor: CInt, _ interest: CInt, context: UnsafeMutableRawPointer?,
        callback: event_callback_fn
    ) throws(SystemError) {
        let flags = Int16(interest | EV_PERSIST)
        guard let base = unsafe base.pointer else {
            preconditionFailure("an event is made before its base ends")
        }
        guard let event = unsafe event_new(base, descriptor, flags, callback, context) else {
            throw SystemError(call: "event_new", code: ENOMEM)
        }
        unsafe pointer = event
    }

    deinit { unsafe event_free(pointer) }

    /// Puts the descriptor into the kernel's set.
    func watch() throws(SystemError) {
        errno = 0
        if unsafe event_add(pointer, nil) != 0 {
            throw SystemError(call: "epoll_ctl", code: errno == 0 ? EINVAL : errno)
        }
    }

    /// Takes the descriptor out of the kernel's set.
    func unwatch() { unsafe event_del(pointer) }
}

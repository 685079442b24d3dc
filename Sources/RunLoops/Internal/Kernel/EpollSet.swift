internal import CLibEvent
internal import DequeModule
internal import Glibc

/// Descriptors that are watched together, behind one that a loop watches.
///
/// What comes and goes in the set is no business of the loop's: so any thread may change it, and a change of mode costs the
/// same however many there are.
///
/// > Thread safety: any thread.
final class EpollSet: Sendable {
    /// Readable while something in the set is ready.
    let descriptor: CInt

    /// What a descriptor is watched for, and what is reported of it.
    struct Interest: OptionSet, Sendable {
        let rawValue: UInt32
        /// Something can be read, or nothing will ever come any more.
        static let reading = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        /// Nothing will ever come any more.
        static let hangUp = Interest(rawValue: EPOLLRDHUP.rawValue)
        static let writing = Interest(rawValue: EPOLLOUT.rawValue)
        /// Reported when it has become ready anew.
        static let edge = Interest(rawValue: EPOLLET.rawValue)
        /// Reported once, until the interest is stated again.
        static let once = Interest(rawValue: EPOLLONESHOT.rawValue)
    }

    /// One descriptor that is ready.
    struct Report: Sendable {
        /// What it was added with.
        let token: UInt64
        let readiness: Interest
    }

    init() throws(SystemError) {
        descriptor = try systemCall("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) }
    }

    deinit { close(descriptor) }

    func add(_ watched: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, watched, interest, token)
    }

    func change(_ watched: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_MOD, watched, interest, token)
    }

    /// Takes a descriptor out, before it is closed.
    func remove(_ watched: CInt) {
        // The kernel cannot refuse what is in the set, and the rest is nothing to do.
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, nil)
    }

    private func control(
        _ operation: CInt, _ watched: CInt, _ interest: Interest, _ token: UInt64
    ) throws(SystemError) {
        // Safe: a plain value, which the kernel only reads.
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue
        unsafe event.data.u64 = token
        _ = try systemCall("epoll_ctl") { unsafe epoll_ctl(descriptor, operation, watched, &event) }
    }

    /// Appends what is ready now, without waiting: each descriptor once, and none twice before all had their turn.
    func report(to reports: inout Deque<Report>) {
        // Safe: the kernel fills at most as many as there is room for.
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            let count = unsafe epoll_wait(descriptor, events.baseAddress, CInt(events.count), 0)
            for index in 0..<Int(max(count, 0)) {
                let event = unsafe events[index]
                reports.append(
                    unsafe Report(token: event.data.u64, readiness: Interest(rawValue: event.events)))
            }
        }
    }
}

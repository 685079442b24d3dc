internal import CLibEvent
package import DequeModule
internal import Glibc

/// Descriptors that are watched together, behind one that a loop watches.
///
/// What comes and goes in the set is no business of the loop's: so any thread may change it, and a change of mode costs the
/// same however many there are.
///
/// > Thread safety: any thread.
package final class EpollSet: Sendable {
    /// Readable while something in the set is ready.
    package let descriptor: CInt

    /// What a descriptor is watched for, and what is reported of it.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Something can be read, or nothing will ever come any more.
        package static let reading = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        /// Nothing will ever come any more.
        package static let hangUp = Interest(rawValue: EPOLLRDHUP.rawValue)
        package static let writing = Interest(rawValue: EPOLLOUT.rawValue)
        /// Reported when it has become ready anew.
        package static let edge = Interest(rawValue: EPOLLET.rawValue)
        /// Reported once, until the interest is stated again.
        package static let once = Interest(rawValue: EPOLLONESHOT.rawValue)
    }

    /// One descriptor that is ready.
    package struct Report: Sendable {
        /// What it was added with.
        package let token: UInt64
        package let readiness: Interest

        package init(token: UInt64, readiness: Interest) {
            self.token = token
            self.readiness = readiness
        }
    }

    package init() throws(SystemError) {
        descriptor = try systemCall("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) }
    }

    deinit { close(descriptor) }

    package func add(_ watched: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, watched, interest, token)
    }

    package func change(_ watched: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_MOD, watched, interest, token)
    }

    /// Takes a descriptor out, before it is closed.
    ///
    /// - Returns: False if it was not in the set, or was closed before: the kernel cannot refuse what is in the set.
    @discardableResult
    package func remove(_ watched: CInt) -> Bool { epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, nil) == 0 }

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
    package func report(to reports: inout Deque<Report>) {
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

internal import CLibEvent
package import DequeModule
internal import Glibc

/// An epoll set: several watched descriptors behind one descriptor, which a loop watches.
///
/// The loop is not involved when descriptors are added or removed. So any thread can do that. When the loop changes its mode, it
/// begins or stops to watch only the set's own descriptor, so the change costs the same for any number of descriptors.
///
/// > Thread safety: any thread.
@usableFromInline
package final class EpollSet: Sendable {
    /// The descriptor of the set, readable while a descriptor in the set is ready.
    package let descriptor: CInt

    /// The readiness that a descriptor is watched for, or that a report contains.
    @usableFromInline
    package struct Interest: OptionSet, Sendable {
        @usableFromInline package let rawValue: UInt32

        @inlinable
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Data can be read, or no more data will ever arrive.
        package static let reading = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        /// No more data will ever arrive.
        package static let hangUp = Interest(rawValue: EPOLLRDHUP.rawValue)
        /// Both directions are closed.
        ///
        /// The kernel always reports this, whatever the interest.
        package static let closed = Interest(rawValue: EPOLLHUP.rawValue)
        /// The socket has an error.
        ///
        /// The kernel always reports this, whatever the interest.
        package static let error = Interest(rawValue: EPOLLERR.rawValue)
        /// Errors and the end of the stream, each reported once.
        package static let hangUpOnce = Interest(rawValue: EPOLLRDHUP.rawValue | EPOLLET.rawValue)
        /// Data, the end of the stream, or a hang-up: in each case, the socket must be read.
        package static let received = Interest(
            rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue)
        package static let writing = Interest(rawValue: EPOLLOUT.rawValue)
        /// Only new readiness is reported.
        package static let edge = Interest(rawValue: EPOLLET.rawValue)
        /// Readiness is reported once, and is not reported again until the interest is changed.
        package static let once = Interest(rawValue: EPOLLONESHOT.rawValue)
    }

    /// A report that one descriptor is ready.
    package struct Report: Sendable {
        /// The number that the caller passed when it added the descriptor or last changed the interest.
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

    /// Removes a descriptor; call this before you close the descriptor.
    ///
    /// - Returns: False if the descriptor was not in the set, or was already closed. The kernel never refuses to remove a
    ///   descriptor that is in the set.
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

    /// Appends reports of descriptors that are ready now, at most 64, without waiting.
    ///
    /// If more descriptors are ready, further calls report them. A descriptor is reported again only after all other ready
    /// descriptors were reported.
    package func report(to reports: inout Deque<Report>) {
        // Safe: the kernel fills at most as many events as the buffer holds.
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            guard let first = events.baseAddress else { return }
            let count = unsafe epoll_wait(descriptor, first, CInt(events.count), 0)
            for index in 0..<Int(max(count, 0)) {
                let event = unsafe events[index]
                reports.append(
                    unsafe Report(token: event.data.u64, readiness: Interest(rawValue: event.events)))
            }
        }
    }
}

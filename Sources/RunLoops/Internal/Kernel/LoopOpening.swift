internal import CLibEvent
internal import Glibc
internal import Synchronization

/// A lock under which one thread at a time opens the descriptors of a loop.
///
/// libevent ends the process if it cannot open a pipe for a new base. So a base is made only after a check that enough descriptors
/// are free, and no thread opens the descriptors of another loop between the check and the creation of the base. If other code of
/// the process uses up the descriptors in that time, `runloops_make_event_base` abandons libevent's call. Then no loop is made, and
/// the caller gets the same error as after a refusal by the kernel.
///
/// Abandoning the call leaks an epoll set and some memory of libevent, because only libevent knows the descriptor number of the
/// set. Each leak doubles the number of additional descriptors that must be free, until the check always fails. So the number of
/// leaks in the life of a process is at most the number of bits of its descriptor limit, plus two.
///
/// > Thread safety: any thread.
enum LoopOpening {
    private static let lock = Guarded(())

    /// The number of descriptors that must be free in addition to those that a new loop opens.
    ///
    /// The number grows after each abandoned call of libevent. It is changed under the lock only.
    private static let margin = Atomic(0)

    /// Calls a closure that opens the descriptors of a loop, while no other thread runs such a closure.
    ///
    /// - Parameter body: The closure that opens the descriptors. It makes system calls under the lock, because the check for free
    ///   descriptors is valid only while the lock is held. It calls no handler and takes no other lock.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    static func serialize<Result>(
        _ body: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        // A cancelled thread would never release the lock.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        return try lock.withLock { (_) throws(SystemError) in try body() }
    }

    /// Throws an error if the process cannot open `count` descriptors plus the ``margin`` now.
    ///
    /// Opening and closing the descriptors is the only check that is always right. It is left out if the limit is far away: the
    /// kernel gives a new descriptor the lowest free number. If the process has many descriptors with higher numbers nevertheless,
    /// libevent's call is abandoned once, and from then on every check is made.
    ///
    /// The caller holds the lock.
    ///
    /// - Parameters:
    ///   - count: The number of descriptors.
    ///   - latest: A descriptor that was opened just before.
    /// - Throws: `SystemError` if the kernel refuses one of them.
    static func requireDescriptors(_ count: Int, after latest: CInt) throws(SystemError) {
        if margin.load(ordering: .relaxed) == 0 && isFarFromLimit(latest) { return }
        var opened: [CInt] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<(count + margin.load(ordering: .relaxed)) {
            opened.append(try systemCall("pipe2") { eventfd(0, CInt(EFD_CLOEXEC)) })
        }
    }

    /// True if a descriptor's number is less than a quarter of the limit.
    private static func isFarFromLimit(_ descriptor: CInt) -> Bool {
        var limit = rlimit()
        // Safe: the C library fills our own value.
        let result = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return result == 0 && UInt64(descriptor) < UInt64(limit.rlim_cur) / 4
    }

    /// Records that a call of libevent was abandoned, and raises the ``margin`` for later checks.
    ///
    /// The caller holds the lock.
    static func lostDescriptor() {
        margin.store(max(1, 2 * margin.load(ordering: .relaxed)), ordering: .relaxed)
    }
}

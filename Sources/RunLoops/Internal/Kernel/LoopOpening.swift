internal import CLibEvent
internal import Glibc
internal import Synchronization

/// Has one thread at a time open the descriptors of a loop.
///
/// libevent ends the process if it gets no pipe for a new base. So a base is asked for only when a look has found that there
/// are descriptors for it, and no thread opens those of another loop between the look and the base. Other code of the process
/// still may: then libevent is left in the middle, which `runloops_make_event_base` does, and the loop is an error like every
/// other one that the kernel refuses.
///
/// An epoll set and some memory of libevent's are lost by that: the set's number is libevent's secret. Each loss
/// doubles how many descriptors must be free beyond those that are needed. So the losses of a process's life are at most two
/// more than its limit of descriptors has bits.
///
/// > Thread safety: any thread.
enum LoopOpening {
    private static let lock = Guarded(())

    /// How many descriptors must be free beyond those that are needed; changed in a thread's turn only.
    private static let margin = Atomic(0)

    /// Opens descriptors of a loop, while no other thread opens any of another loop.
    ///
    /// - Parameter body: What opens them. It makes system calls under the lock, because a look at the descriptors that are
    ///   free is worth nothing after it; it calls no handler and takes no other lock.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    static func serialize<Result>(
        _ body: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        // A cancelled thread would keep the lock.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        return try lock.withLock { (_) throws(SystemError) in try body() }
    }

    /// Throws if so many descriptors, and the margin, cannot be opened now.
    ///
    /// In a thread's turn only.
    static func requireDescriptors(_ count: Int) throws(SystemError) {
        var opened: [CInt] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<(count + margin.load(ordering: .relaxed)) {
            opened.append(try systemCall("pipe2") { eventfd(0, CInt(EFD_CLOEXEC)) })
        }
    }

    /// Notes that libevent was left in the middle.
    ///
    /// In a thread's turn only.
    static func lostDescriptor() {
        margin.store(max(1, 2 * margin.load(ordering: .relaxed)), ordering: .relaxed)
    }
}

internal import CRunLoops
internal import DequeModule
internal import Glibc
internal import RunLoops
internal import Synchronization

/// Closes received descriptors on separate threads, because closing a descriptor can take time.
///
/// The process that has sent a descriptor decides how long closing it takes. Examples of slow descriptors are a socket that lingers
/// until its data are read, a file in a file system that a process serves, and a socket in whose queue slow descriptors wait to be
/// read. So no loop closes received descriptors, however many are waiting to be closed.
///
/// Descriptors that wait to be closed count against the quota of their sender. At the limit, the sender cannot send more; see
/// ``DescriptorQuota``. A thread is started when descriptors wait to be closed, and ends after some time without work.
///
/// > Thread safety: any thread.
enum DescriptorCloser {
    /// The maximum number of threads that close descriptors of one ``PeerGroup`` at the same time.
    ///
    /// If all of these threads block, they delay only that group.
    static let mostThreadsOfGroup = 2

    /// The maximum number of threads that close descriptors, for all groups together.
    static let mostThreads = 16

    /// The time after which a thread that has not finished closing one batch of descriptors counts as stuck.
    static let patience = Duration.seconds(5)

    /// The time that an idle thread waits for descriptors before it ends.
    private static let idleTime = Duration.seconds(1)

    /// Descriptors that were discarded together, such as those of one message.
    ///
    /// One thread closes them one after another. So if one descriptor is slow to close, the rest of its batch waits, but other
    /// threads can close other batches.
    private struct Batch: Sendable {
        let numbers: [CInt]
        let quota: DescriptorQuota
    }

    private struct State: Sendable {
        var waiting: Deque<Batch> = []
        /// The batches of each group that are being closed now.
        ///
        /// Each batch is represented by a moment: the moment at which a thread began to close the batch.
        var running: [PeerGroup.Key: [Moment]] = [:]
        /// The gates at which threads without work wait.
        var idle: [ThreadGate] = []
        var threadCount = 0

        /// The index of the batch to close next, or nil if no batch may be closed now.
        ///
        /// It is the first batch in ``waiting`` whose group has fewer threads than ``DescriptorCloser/mostThreadsOfGroup``.
        var next: Int? {
            waiting.firstIndex {
                running[$0.quota.group.key, default: []].count < DescriptorCloser.mostThreadsOfGroup
            }
        }
    }

    private static let state = Guarded(State())

    /// True if the last attempt to start a thread has failed; descriptors can then be waiting for a thread.
    private static let needsThread = Atomic(false)

    /// The number of descriptors that wait to be closed.
    ///
    /// Only tests read this property.
    static var waitingCount: Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.numbers.count } } }

    /// Schedules descriptors to be closed on another thread.
    ///
    /// - Parameters:
    ///   - numbers: The descriptors.
    ///   - quota: The quota of the peer that has sent them.
    ///   - wereCounted: True if the quota counts the descriptors already, because they were not taken out of their message.
    static func close(_ numbers: [CInt], for quota: DescriptorQuota, wereCounted: Bool) {
        // In a forked child, the threads that close descriptors do not exist, and the lock can stay locked forever.
        if numbers.isEmpty || Fork.isChild { return }
        quota.beginClosing(numbers.count, wereCounted: wereCounted)
        state.withLock { $0.waiting.append(Batch(numbers: numbers, quota: quota)) }
        useThread()
    }

    /// True if a thread has spent ``patience`` or longer on closing one batch of a group's descriptors.
    static func isStuck(_ group: PeerGroup) -> Bool {
        let start = state.withLock { $0.running[group.key]?.first }
        guard let start else { return false }
        return start.advanced(by: patience.nanosecondsRoundedUp) <= Moment.now()
    }

    /// Wakes an idle thread, or starts a thread, if a batch may be closed now.
    ///
    /// At most ``mostThreads`` threads exist at the same time. The function is called for each batch. So while batches wait, as
    /// many threads are busy as ``mostThreads`` and ``mostThreadsOfGroup`` allow. If no thread can be started, ``retryThread()``
    /// tries again later. Until then, the descriptors of the batch count against the quota of their sender.
    private static func useThread() {
        enum Next { case nothing, open(ThreadGate), start }
        let next: Next = state.withLock { state in
            if state.next == nil { return .nothing }
            if let gate = state.idle.popLast() { return .open(gate) }
            if state.threadCount == mostThreads { return .nothing }
            state.threadCount += 1
            return .start
        }
        switch next {
        case .nothing: return
        case .open(let gate): gate.open()
        case .start:
            let hasThread = startThread()
            needsThread.store(!hasThread, ordering: .relaxed)
            if !hasThread { state.withLock { $0.threadCount -= 1 } }
        }
    }

    /// Tries again to start a thread, if the last attempt to start one has failed.
    static func retryThread() { if needsThread.load(ordering: .relaxed) { useThread() } }

    private static func startThread() -> Bool {
        // The thread blocks signals, so that the program's own threads handle them.
        do {
            try DetachedThread.start(name: "closer", stackSize: 262_144, blocksSignals: true) { run() }
        } catch {
            return false
        }
        return true
    }

    // MARK: - A thread

    private static func run() {
        while true {
            while let (batch, start) = takeBatch() {
                for number in batch.numbers { Glibc.close(number) }
                finish(batch, start)
            }
            guard let gate = becomeIdle() else { continue }
            if !gate.wait(until: .now + idleTime), leave(gate) { return }
        }
    }

    private static func takeBatch() -> (Batch, Moment)? {
        let now = Moment.now()
        return state.withLock { state in
            guard let place = state.next else { return nil }
            let batch = state.waiting.remove(at: place)
            state.running[batch.quota.group.key, default: []].append(now)
            return (batch, now)
        }
    }

    /// Records that the descriptors of a batch are closed.
    private static func finish(_ batch: Batch, _ start: Moment) {
        state.withLock { state in
            let key = batch.quota.group.key
            var running = state.running[key] ?? []
            guard let place = running.firstIndex(of: start) else {
                preconditionFailure("a batch is running until it is finished")
            }
            running.remove(at: place)
            state.running[key] = running.isEmpty ? nil : running
        }
        batch.quota.endClosing(batch.numbers.count)
    }

    /// Adds the calling thread to the idle threads, unless there is a batch that can be closed now.
    ///
    /// - Returns: The gate at which the thread then waits for a batch; nil if there is a batch that can be closed now.
    private static func becomeIdle() -> ThreadGate? {
        let gate = ThreadGate()
        return state.withLock { state in
            if state.next != nil { return nil }
            state.idle.append(gate)
            return gate
        }
    }

    /// Removes a thread from the idle threads, because the thread has waited for a batch in vain.
    ///
    /// - Returns: True if the thread may end; false if another thread has meanwhile woken it for a batch.
    private static func leave(_ gate: ThreadGate) -> Bool {
        state.withLock { state in
            guard let place = state.idle.firstIndex(where: { $0 === gate }) else { return false }
            state.idle.remove(at: place)
            state.threadCount -= 1
            return true
        }
    }
}

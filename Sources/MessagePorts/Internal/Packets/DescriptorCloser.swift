internal import DequeModule
internal import Glibc
internal import RunLoops
internal import Synchronization

/// Closes what other processes have sent, on threads of its own.
///
/// To close a descriptor may take time, and its sender decides how much: a socket that lingers until its data are taken, a
/// file of a file system that a process serves, a connection on which such descriptors wait to be read. So no loop does it,
/// however much waits. What waits is counted against its sender, which may then send no more: ``DescriptorAccount``. The
/// threads are made when there is something to close, and end when there was nothing for a while.
///
/// > Thread safety: any thread.
enum DescriptorCloser {
    /// The number of threads that close for one lane at the same time.
    ///
    /// So many closes that take their time hold up that lane alone.
    static let mostThreadsOfLane = 2

    /// The number of all threads.
    static let mostThreads = 16

    /// The time after which a close is taken to hang.
    static let patience = Duration.seconds(5)

    /// The time that a thread waits for something to close.
    private static let idleTime = Duration.seconds(1)

    /// What was discarded together is closed together: what is slow of one message holds up the rest of it first.
    private struct Batch: Sendable {
        let numbers: [CInt]
        let account: DescriptorAccount
    }

    private struct State: Sendable {
        var waiting: Deque<Batch> = []
        /// The moments at which the closes of each lane began that are not over.
        var running: [DescriptorLane.Key: [Moment]] = [:]
        /// The threads that have nothing to do, and the gates at which they wait.
        var idle: [ThreadGate] = []
        var threadCount = 0

        /// The first batch that may be closed now: its lane has a thread left.
        var next: Int? {
            waiting.firstIndex {
                running[$0.account.lane.key, default: []].count < DescriptorCloser.mostThreadsOfLane
            }
        }
    }

    private static let state = Guarded(State())

    /// True if something may wait because no thread could be started.
    private static let lacksThread = Atomic(false)

    /// The number of descriptors that wait, for tests.
    static var waitingCount: Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.numbers.count } } }

    /// Closes descriptors, soon.
    ///
    /// - Parameters:
    ///   - numbers: The descriptors.
    ///   - account: The account of the peer that has sent them.
    ///   - wereCounted: True if they are on the account already, as untaken.
    static func close(_ numbers: [CInt], for account: DescriptorAccount, wereCounted: Bool) {
        // In a forked child there are no such threads, and their lock may be held for ever.
        if numbers.isEmpty || Fork.isChild { return }
        account.beginClosing(numbers.count, wereCounted: wereCounted)
        state.withLock { $0.waiting.append(Batch(numbers: numbers, account: account)) }
        employ()
    }

    /// True if a close of a lane has taken longer than it may.
    static func isStuck(_ lane: DescriptorLane) -> Bool {
        let start = state.withLock { $0.running[lane.key]?.first }
        guard let start else { return false }
        return start.advanced(by: patience.nanosecondsRoundedUp) <= Moment.now()
    }

    /// Has one thread more look for something to close, if something may be closed and there may be one more.
    ///
    /// Called for each batch, so as many threads are busy as may be. What waits because no thread could be started stays on
    /// its account, and ``tryAgain()`` starts one as soon as there is one to be had.
    private static func employ() {
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
            lacksThread.store(!hasThread, ordering: .relaxed)
            if !hasThread { state.withLock { $0.threadCount -= 1 } }
        }
    }

    /// Starts a thread if there was none to be had before.
    static func tryAgain() { if lacksThread.load(ordering: .relaxed) { employ() } }

    private static func startThread() -> Bool {
        // Without signals: they are for the program's threads.
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
            while let (batch, start) = takeNext() {
                for number in batch.numbers { Glibc.close(number) }
                finish(batch, start)
            }
            guard let gate = becomeIdle() else { continue }
            if !gate.wait(until: .now + idleTime), leave(gate) { return }
        }
    }

    private static func takeNext() -> (Batch, Moment)? {
        let now = Moment.now()
        return state.withLock { state in
            guard let place = state.next else { return nil }
            let batch = state.waiting.remove(at: place)
            state.running[batch.account.lane.key, default: []].append(now)
            return (batch, now)
        }
    }

    /// The descriptors of a batch are closed.
    private static func finish(_ batch: Batch, _ start: Moment) {
        state.withLock { state in
            let key = batch.account.lane.key
            var running = state.running[key] ?? []
            guard let place = running.firstIndex(of: start) else {
                preconditionFailure("a batch is running until it is finished")
            }
            running.remove(at: place)
            state.running[key] = running.isEmpty ? nil : running
        }
        batch.account.endClosing(batch.numbers.count)
    }

    /// - Returns: The gate at which this thread is told of something to close; nil if there is something.
    private static func becomeIdle() -> ThreadGate? {
        let gate = ThreadGate()
        return state.withLock { state in
            if state.next != nil { return nil }
            state.idle.append(gate)
            return gate
        }
    }

    /// - Returns: True if the thread ends: no batch has chosen it since.
    private static func leave(_ gate: ThreadGate) -> Bool {
        state.withLock { state in
            guard let place = state.idle.firstIndex(where: { $0 === gate }) else { return false }
            state.idle.remove(at: place)
            state.threadCount -= 1
            return true
        }
    }
}

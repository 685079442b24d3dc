internal import CThreads
internal import DequeModule
internal import Glibc

/// Closes what other processes have sent, on threads of its own.
///
/// To close a descriptor may take time, and whoever has sent it decides how much: a socket that lingers until its data are
/// taken, a file of a file system that a process serves, a connection on which such descriptors wait to be read. So no loop
/// does it. The threads are made when there is something to close, and end when there was nothing for a while.
///
/// > Thread safety: any thread.
enum DescriptorCloser {
    /// How many threads there are at most: so many closes that take their time hold up nothing else.
    static let mostThreads = 4

    /// How many descriptors wait at most.
    ///
    /// With more, whoever lets go of one closes it itself: else the process would have
    /// none left.
    static let mostWaiting = 1_024

    /// How long a thread waits for something to close.
    private static let patience = Duration.seconds(1)

    private struct State: Sendable {
        var waiting: Deque<CInt> = []
        /// The threads that have nothing to do, and where each can be told of something.
        var idle: [ThreadGate] = []
        var threadCount = 0
    }

    private static let state = Guarded(State())

    /// How many descriptors wait, for a test.
    static var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Closes descriptors, soon.
    static func close(_ descriptors: consuming OwnedDescriptors) {
        // In a forked child there are no such threads, and their lock may be held for ever.
        if descriptors.isEmpty || Fork.isChild { return }
        let numbers = descriptors.release()
        let room = state.withLock { state in
            let room = min(numbers.count, mostWaiting - state.waiting.count)
            state.waiting.append(contentsOf: numbers[..<room])
            return room
        }
        for number in numbers[room...] { Glibc.close(number) }
        employ()
    }

    /// Has one thread more look for something to close, if something waits and there may be one more.
    private static func employ() {
        enum Next { case nothing, open(ThreadGate), start }
        let next: Next = state.withLock { state in
            if state.waiting.isEmpty { return .nothing }
            if let gate = state.idle.popLast() { return .open(gate) }
            if state.threadCount == mostThreads { return .nothing }
            state.threadCount += 1
            return .start
        }
        switch next {
        case .nothing: return
        case .open(let gate): gate.open()
        case .start: if !startThread() { closeHere() }
        }
    }

    private static func startThread() -> Bool {
        var attributes = pthread_attr_t()
        var thread = pthread_t()
        // Safe, this and the next calls: the attributes are our own, set up before they are used, and the thread is given
        // nothing.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, 262_144)
        return unsafe pthread_create(&thread, &attributes, closerMain, nil) == 0
    }

    /// There is no thread to be had: if there are no others either, there is nobody else to do it.
    private static func closeHere() {
        let left = state.withLock { state -> Deque<CInt> in
            state.threadCount -= 1
            if state.threadCount > 0 { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for number in left { Glibc.close(number) }
    }

    /// What a thread does.
    fileprivate static func run() {
        // Those are for the program's threads.
        var signals = sigset_t()
        // Safe: the set is our own.
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        while true {
            while let number = state.withLock({ $0.waiting.popFirst() }) {
                // This one may take its time, and the rest is not to wait for it.
                employ()
                Glibc.close(number)
            }
            guard let gate = becomeIdle() else { continue }
            if !gate.wait(until: .now + patience), leave(gate) { return }
        }
    }

    /// - Returns: Where this thread is told of something to close; nil if something waits.
    private static func becomeIdle() -> ThreadGate? {
        let gate = ThreadGate()
        return state.withLock { state in
            if !state.waiting.isEmpty { return nil }
            state.idle.append(gate)
            return gate
        }
    }

    /// - Returns: Whether the thread ends: nobody has chosen it since.
    private static func leave(_ gate: ThreadGate) -> Bool {
        state.withLock { state in
            guard let place = state.idle.firstIndex(where: { $0 === gate }) else { return false }
            state.idle.remove(at: place)
            state.threadCount -= 1
            return true
        }
    }
}

/// The entry of the threads: a function of its own, as that of every thread that is started here.
private func closerMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    _ = unsafe runloops_name_thread("closer")
    DescriptorCloser.run()
    return nil
}

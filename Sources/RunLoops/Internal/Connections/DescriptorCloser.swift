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
        /// What was let go of together is closed together: what is slow of one message holds up the rest of it, and no other.
        var waiting: Deque<[CInt]> = []
        /// How many descriptors that are.
        var waitingCount = 0
        /// The threads that have nothing to do, and where each can be told of something.
        var idle: [ThreadGate] = []
        var threadCount = 0
    }

    private static let state = Guarded(State())

    /// How many descriptors wait, for a test.
    static var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Closes descriptors, soon.
    static func close(_ descriptors: consuming OwnedDescriptors) {
        // In a forked child there are no such threads, and their lock may be held for ever.
        if descriptors.isEmpty || Fork.isChild { return }
        let numbers = descriptors.release()
        let hasRoom = state.withLock { state in
            if state.waitingCount + numbers.count > mostWaiting { return false }
            state.waiting.append(numbers)
            state.waitingCount += numbers.count
            return true
        }
        if !hasRoom { for number in numbers { Glibc.close(number) } }
        employ()
    }

    /// Has one thread more look for something to close, if something waits and there may be one more.
    ///
    /// Done for each that is let go of: so as long as something waits, as many threads as may be are busy.
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
        let left = state.withLock { state -> Deque<[CInt]> in
            state.threadCount -= 1
            if state.threadCount > 0 { return [] }
            defer {
                state.waiting = []
                state.waitingCount = 0
            }
            return state.waiting
        }
        for numbers in left { for number in numbers { Glibc.close(number) } }
    }

    /// What a thread does.
    fileprivate static func run() {
        // Those are for the program's threads.
        var signals = sigset_t()
        // Safe: the set is our own.
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        while true {
            while let numbers = takeNext() {
                for number in numbers { Glibc.close(number) }
            }
            guard let gate = becomeIdle() else { continue }
            if !gate.wait(until: .now + patience), leave(gate) { return }
        }
    }

    private static func takeNext() -> [CInt]? {
        state.withLock { state in
            guard let numbers = state.waiting.popFirst() else { return nil }
            state.waitingCount -= numbers.count
            return numbers
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

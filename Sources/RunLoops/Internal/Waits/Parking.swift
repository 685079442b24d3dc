internal import Synchronization

/// The place where one task waits that runs on a loop, until it is let go on, on the same loop.
///
/// A task that waits for a continuation is resumed on the default executor, and only from there it goes back to the executor of its
/// actor: one more thread takes part in each wait. This actor is its own executor, and its executor does not run the job of the
/// task that enters, but keeps it. Opening gives the job to the loop that the task came from. There the task finds itself in its own
/// executor already, and goes on without another switch.
actor Parking: SerialExecutor {
    /// 0 as long as it is closed and empty, 1 once it is open; otherwise the job of the task that waits.
    private nonisolated let word = Atomic<UInt>(0)
    private nonisolated let handle: LoopHandle
    private nonisolated let kind: Node.Kind

    private init(_ handle: LoopHandle, _ kind: Node.Kind) {
        self.handle = handle
        self.kind = kind
    }

    /// Returns a parking for the calling task; nil if it does not run in an executor of the calling thread's loop.
    ///
    /// - Parameter isolation: The isolation of the task.
    /// - Returns: The parking, closed.
    static func forCaller(_ isolation: (any Actor)?) -> Parking? {
        guard let handle = LoopHandle.ofThread, let home = unsafe handle.executors else { return nil }
        if let isolation {
            let isHome = unsafe address(of: isolation.unownedExecutor) == address(of: home.serial)
            return isHome ? Parking(handle, .job) : nil
        }
        // Safe: it only compares addresses.
        let isHome = unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor == home.task }
        return isHome ? Parking(handle, .preferredJob) : nil
    }

    /// The address of the object that is a serial executor.
    private static func address(of executor: UnownedSerialExecutor) -> UInt {
        // Safe: it is only compared. A serial executor is two pointers, of which the first one is the object.
        unsafe unsafeBitCast(executor, to: (UInt, UInt).self).0
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    /// Keeps the job of the task that enters, unless the parking is open.
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Safe: a job is one pointer, and each job is run once, by whoever takes it out of the word.
        let bits = unsafe unsafeBitCast(job, to: UInt.self)
        let isKept = word.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing)
            .exchanged
        if !isKept { passOn(job) }
    }

    nonisolated var isOpen: Bool { word.load(ordering: .acquiring) == 1 }

    /// Lets the task that waits, or will wait, go on.
    ///
    /// It is called once.
    nonisolated func open() {
        let bits = word.exchange(1, ordering: .acquiringAndReleasing)
        // Safe: see `enqueue`.
        if bits > 1 { passOn(unsafe unsafeBitCast(bits, to: UnownedJob.self)) }
    }

    private nonisolated func passOn(_ job: UnownedJob) {
        if handle.enqueue(job, kind) { return }
        if kind == .preferredJob { return Executors.enqueueElsewhere(job) }
        misuse("RunLoop.enqueue: a task continues in an actor of a loop whose thread has ended")
    }

    /// Waits until the parking is open.
    ///
    /// The compiler removes the call of an empty method, and with it the wait.
    @inline(never)
    func enter() {
        if !isOpen { preconditionFailure("the job of a task that waits runs after the parking was opened") }
    }
}

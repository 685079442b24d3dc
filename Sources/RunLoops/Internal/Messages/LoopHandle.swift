internal import CRunLoops
internal import Synchronization

/// The part of a loop that every thread can access: the mailbox, and the descriptor that wakes the loop.
///
/// The handle contains the memory that senders access. It exists as long as there is a reference to it, and so can outlive the
/// loop's thread.
final class LoopHandle: Sendable {
    /// The mailbox into which other threads put messages for the loop.
    ///
    /// It is the first property, next to the reference count, because senders write both the mailbox and the count.
    let mailbox = Mailbox()

    /// The requests that the loop has not taken yet, such as those that `stop()` and `wakeUp()` make.
    private let requests = Atomic<UInt8>(0)

    /// The ends and removals of the loop's inputs that other threads have handed over.
    let handOvers = HandOverStack()

    /// The number of times that a sender has written to ``wakeup``.
    let kernelWrites = Atomic<Int>(0)

    /// The moment at which a sender woke the loop.
    ///
    /// With this moment, the loop measures the time that a wake-up takes. The loop stores 1 before it sleeps, to request a
    /// measurement. The sender that wakes the loop then replaces the 1 with the moment of its write to ``wakeup``. The value 0
    /// means that no measurement is requested.
    let wakeStamp = Atomic<Int64>(0)

    /// The descriptor with which senders wake the loop.
    ///
    /// It comes before the padding, because senders read it.
    let wakeup: Wakeup

    /// Padding that keeps the loop's own data off the cache lines that senders write.
    ///
    /// The padding fills two lines, because processors fetch lines in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// The executors of the loop.
    ///
    /// `nonisolated(unsafe)`: they are set while the loop is made, before another thread has the handle.
    nonisolated(unsafe) var executors: Executors?

    let runningMode = RunningMode()
    let counters = Counters()
    let processorTime = ProcessorTime()
    let handlers = HandlerRecord()

    /// The loop's longest call of a handler; nil unless the program has asked for the timing of handlers.
    ///
    /// The loop takes the lock only when it times a handler.
    let longestHandler = Guarded<LongestHandler?>(nil)

    /// The node that notifies the loop of new `requests`.
    ///
    /// It is in the mailbox only while `requests` is not 0.
    private let requestNode: Node

    init() throws(SystemError) {
        wakeup = try Wakeup()
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Node.stride, alignment: Node.stride)
        precondition(unsafe Mailbox.Word.canHold(memory), "a mailbox holds addresses of 48 bits")
        requestNode = unsafe Node(memory)
        requestNode.kind = .control
        requestNode.next = nil
    }

    deinit {
        // Safe: no thread can still push, and the loop has closed the mailbox or never used it.
        unsafe requestNode.address.deallocate()
    }

    /// The handle of the calling thread's loop; nil if the thread has no loop.
    static var ofThread: LoopHandle? {
        // Safe: the loop in the thread's slot has the handle.
        unsafe runloops_thread_handle().map {
            unsafe Unmanaged<LoopHandle>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Puts nodes into the loop's mailbox, and wakes the loop if it sleeps.
    ///
    /// - Parameters:
    ///   - chain: The nodes, which contain the messages.
    ///   - member: The name of the public member that the program called. In a forked child, the program ends with a message that
    ///     contains the name.
    /// - Returns: False if the loop has ended. The caller then still owns the nodes.
    @inline(__always)
    func send(_ chain: Mailbox.Chain, for member: StaticString = "RunLoop") -> Bool {
        if Recorder.mayRecord { noteSend(chain, member) }
        switch mailbox.push(chain) {
        case .queued: return true
        case .queuedToArmed:
            writeWakeup()
            return true
        case .closed: return false
        case .full, .raced: preconditionFailure("push asks for no room, and repeats until it is decided")
        }
    }

    @inline(never)
    private func noteSend(_ chain: Mailbox.Chain, _ member: StaticString) {
        Fork.look(member)
        mailbox.noteSend(chain, chain.place)
    }

    @inline(never)
    private func writeWakeup() {
        if wakeStamp.load(ordering: .relaxed) == 1 {
            wakeStamp.store(Moment.now().nanoseconds, ordering: .relaxed)
        }
        kernelWrites.add(1, ordering: .relaxed)
        racePoint(.writes)
        wakeup.signal()
    }
}

extension LoopHandle {
    /// Requests to a loop, which any thread can make.
    struct Requests: OptionSet {
        let rawValue: UInt8

        /// A request to end the innermost run.
        static let stop = Requests(rawValue: 1)
        /// A request to make one more pass.
        static let wakeUp = Requests(rawValue: 2)
        /// A request to end the current runs and every later run.
        static let end = Requests(rawValue: 4)
        /// A request to take ``handOvers``.
        static let handOvers = Requests(rawValue: 8)
    }

    /// Hands over an end or a removal, and wakes the loop.
    ///
    /// - Returns: False if the loop has ended; it has then removed all of its inputs.
    func handOver(_ handOver: any HandOver) -> Bool {
        guard handOvers.push(handOver) else { return false }
        request(.handOvers)
        return true
    }

    /// Makes a request, which is kept until the loop takes it.
    func request(_ request: Requests) {
        Fork.check("RunLoop")
        racePoint(.requestMarks)
        let before = requests.bitwiseOr(request.rawValue, ordering: .acquiringAndReleasing).oldValue
        // The first request after the loop has taken the previous requests sends the node. The loop clears the requests only after
        // it has taken the node out, so the node is never in the mailbox twice.
        if before == 0 { _ = send(Mailbox.Chain(requestNode)) }
    }

    /// Removes and returns all requests to the loop.
    ///
    /// Called on the loop's thread only, after it has taken the request node out of the mailbox.
    func takeRequests() -> Requests {
        racePoint(.takesRequests)
        return Requests(rawValue: requests.exchange(0, ordering: .acquiringAndReleasing))
    }
}

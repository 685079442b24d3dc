internal import Synchronization

/// The part of a loop that every thread may touch: its mailbox, and the means to wake it.
///
/// It outlives the loop's thread as long as somebody holds it, and so does the descriptor that senders
/// write to.
final class LoopHandle: Sendable {
    /// Where senders push.
    ///
    /// In front, with the reference count that senders touch too.
    let mailbox = Mailbox()

    /// What ``stop()`` and ``wakeUp()`` have asked for since the loop last looked.
    private let requests = Atomic<UInt8>(0)

    /// Wake-up writes by senders.
    let kernelWrites = Atomic<Int>(0)

    /// When the loop wants to know what a wake-up costs: 1, then the moment of the sender's write.
    ///
    /// Else 0.
    let wakeStamp = Atomic<Int64>(0)

    /// Here, because senders read it.
    let wakeup: Wakeup

    /// Keeps what the loop writes off the cache lines that senders write: two lines, because processors
    /// fetch them in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    let counters = Counters()
    let handlers = HandlerRecord()

    /// Nil while nobody asked for it.
    ///
    /// Taken by the loop only when it times a handler.
    let longestHandler = Guarded<LongestHandler?>(nil)

    /// Sent to make the loop look at `requests`; in the mailbox only while `requests` is not 0.
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
        // Safe: nobody can push any more, and the loop has closed the mailbox or never used it.
        unsafe requestNode.address.deallocate()
    }

    /// Pushes nodes, and wakes the loop if it sleeps.
    ///
    /// - Parameters:
    ///   - chain: The nodes.
    ///   - member: Which public member does it, for the message to a forked child.
    /// - Returns: False if the loop has ended; then the nodes are still the caller's.
    @inline(__always)
    func send(_ chain: Mailbox.Chain, for member: StaticString = "RunLoop") -> Bool {
        Fork.check(member)
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
    private func writeWakeup() {
        if wakeStamp.load(ordering: .relaxed) == 1 {
            wakeStamp.store(Moment.now().nanoseconds, ordering: .relaxed)
        }
        kernelWrites.add(1, ordering: .relaxed)
        step(.writes)
        wakeup.signal()
    }
}

extension LoopHandle {
    /// What another thread can ask of a loop's runs.
    struct Requests: OptionSet {
        let rawValue: UInt8

        /// End the innermost run.
        static let stop = Requests(rawValue: 1)
        /// Make one more pass.
        static let wakeUp = Requests(rawValue: 2)
        /// End every run, now and later.
        static let end = Requests(rawValue: 4)
    }

    /// Asks for something, which is remembered until the loop looks.
    func request(_ request: Requests) {
        Fork.check("RunLoop")
        step(.requestMarks)
        let before = requests.bitwiseOr(request.rawValue, ordering: .acquiringAndReleasing).oldValue
        // The first request since the loop looked sends the node; the loop clears the requests only after
        // it has taken the node out, so the node is never in the mailbox twice.
        if before == 0 { _ = send(Mailbox.Chain(requestNode)) }
    }

    /// Takes what was asked for.
    ///
    /// The loop's thread, when it has taken the request node out.
    func takeRequests() -> Requests {
        step(.takesRequests)
        return Requests(rawValue: requests.exchange(0, ordering: .acquiringAndReleasing))
    }
}

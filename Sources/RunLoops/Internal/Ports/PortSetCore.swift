internal import CRunLoops
internal import DequeModule
internal import Synchronization

/// The members of a port set, and the threads that wait for the members' messages.
@usableFromInline
final class PortSetCore: Sendable {
    typealias Member = PortSetMember

    /// The members, the queue of ready members, and the gates of the waiting threads.
    ///
    /// The lock of this state is a leaf lock: a thread that holds it takes no other lock. Senders take this lock as well.
    private let line = Guarded(Line())

    /// The lock that a thread holds while it takes out a message, or adds or removes a member.
    ///
    /// A thread that holds the lock acts as the receiver of the members' ports. This is not a leaf lock: when the thread takes a
    /// message out of a full port, it queues the messages of the port's waiting senders, under the lock of the port's wait queue. It
    /// wakes the senders after it has released both locks, because a task that is resumed can run at once, on an executor that runs
    /// jobs inline, and use the set. A sender never takes this lock, only the lock of `line`. No user code runs under this lock.
    private let receiving = Guarded(Turn())

    /// The state that the lock of `receiving` guards.
    private struct Turn: Sendable {
        /// The member from which the last message was taken, if it had more messages; nil if it had none, or if a thread slept.
        ///
        /// The member is not in the queue of ready members. So while no other member is ready, each message takes one lock only.
        var current: Member?
    }

    /// The number of ready members; written under the lock of `line`.
    private let readyCount = Atomic<Int>(0)
    /// The number of waiting threads; written under the lock of `line`.
    private let sleeperCount = Atomic<Int>(0)

    /// The identifier of the thread that last received from the set; 0 if no thread has received from it.
    private let server = Atomic<UInt>(0)

    /// The state that the lock of `line` guards.
    ///
    /// The lock also guards the properties `isReady` and `isDetached` of each member.
    private struct Line: @unchecked Sendable {
        var members: [ObjectIdentifier: Member] = [:]
        /// The members that have messages or have ended, in the order in which they are served.
        var ready = Deque<Member>()
        /// The gates of the waiting threads, which are woken first come, first served.
        var waiting = Deque<ThreadGate>()

        mutating func append(_ member: Member) {
            if member.isDetached || member.isReady { return }
            member.isReady = true
            ready.append(member)
        }
    }

    var count: Int { line.withLock { $0.members.count } }

    /// The number of threads that sleep, or are about to sleep, until a member has a message.
    var waitingCount: Int { line.withLock { $0.waiting.count } }

    /// Changes the queues under their lock.
    private func changeLine<Result>(_ change: (inout Line) -> Result) -> Result {
        line.withLock { line in
            defer {
                readyCount.store(line.ready.count, ordering: .relaxed)
                sleeperCount.store(line.waiting.count, ordering: .relaxed)
            }
            return change(&line)
        }
    }

    private var id: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    // MARK: - Members

    func add(_ member: Member) {
        Fork.check("PortSet.add")
        let core = member.core
        let isReady: Bool = receiving.withLock { _ in
            if line.withLock({ $0.members[ObjectIdentifier(core)] != nil }) { return false }
            if core.receiver.claim.take(for: self) {
                member.begin()
            } else if !core.isClosed {
                misuse(
                    "PortSet.add: the port made at \(core.origin) is in a loop or in another set; remove it there first"
                )
            } else if !member.reportsEnd {
                return false
            }
            line.withLock { line in
                member.isDetached = false
                line.members[ObjectIdentifier(core)] = member
            }
            return !member.arm()
        }
        if isReady { becameReady(member) }
    }

    func remove(_ core: PortCore) {
        Fork.check("PortSet.remove")
        let (member, released): (Member?, Deque<ThreadGate>) = receiving.withLock { turn in
            guard let member = line.withLock({ $0.members[ObjectIdentifier(core)] }) else { return (nil, []) }
            return (member, detach(member, &turn))
        }
        guard let member else { return }
        didDetach(member, released)
    }

    /// Removes all members; called when the last reference to the set was released.
    func end() {
        if Fork.isChild { return }
        while let core = line.withLock({ $0.members.first?.value.core }) { remove(core) }
        PortSetServers.record(id, server, to: 0)
    }

    /// Removes a member.
    ///
    /// The caller holds the `receiving` lock.
    ///
    /// - Returns: If no member is left, the gates of all waiting threads, which the caller must open; otherwise an empty list.
    private func detach(_ member: Member, _ turn: inout Turn) -> Deque<ThreadGate> {
        if turn.current === member { turn.current = nil }
        let released: Deque<ThreadGate> = changeLine { line in
            line.members.removeValue(forKey: ObjectIdentifier(member.core))
            member.isDetached = true
            if member.isReady { line.ready.removeAll { $0 === member } }
            member.isReady = false
            if !line.members.isEmpty { return [] }
            defer { line.waiting = [] }
            return line.waiting
        }
        member.cease()
        return released
    }

    /// Finishes the removal of a member, after all locks were released.
    private func didDetach(_ member: Member, _ released: Deque<ThreadGate>) {
        member.core.destroyWhatIsLeft()
        for gate in released { gate.open() }
    }

    // MARK: - Receiving

    /// Queues a member that has messages or has ended, and wakes a waiting thread, if there is one.
    func becameReady(_ member: Member) {
        let gate = changeLine { line in
            line.append(member)
            return line.ready.isEmpty ? nil : line.waiting.popFirst()
        }
        gate?.open()
    }

    /// The result of one attempt to take a message.
    private enum Finding {
        case message(Member, Node)
        case ended(Member, Deque<ThreadGate>)
        /// The thread has opened a gate, and looks again.
        case again
        /// The thread is among the waiting threads now.
        case sleeps(ThreadGate)
        case timedOut, noMembers
    }

    /// The result of waiting for a message.
    @usableFromInline
    struct Reception: Sendable {
        @usableFromInline let member: PortSetMember
        /// The node of the message or the signal; nil if the member has ended, and has left the set.
        ///
        /// The end of a member is reported only if its ``PortSetMember/reportsEnd`` is true.
        @usableFromInline let node: Node?
    }

    /// Waits for the first message of any member.
    func receive(before deadline: Moment) throws(PortSetError) -> Reception {
        Fork.check("PortSet.receive")
        serveHere()
        var mayWait = deadline == .never || deadline > Moment.now()
        while true {
            switch look(mayWait: mayWait) {
            case .message(let member, let node): return Reception(member: member, node: node)
            case .ended(let member, let released):
                didDetach(member, released)
                if member.reportsEnd { return Reception(member: member, node: nil) }
            case .again: break
            case .noMembers: throw PortSetError(.noMembers)
            case .timedOut: throw PortSetError(.timedOut)
            case .sleeps(let gate):
                if gate.wait(until: deadline) { continue }
                // Another thread that made a member ready can have chosen to wake this thread just as this thread timed out. In
                // that case no third thread was woken for the member, so this thread checks once more.
                changeLine { $0.waiting.removeAll { $0 === gate } }
                mayWait = false
            }
        }
    }

    /// Removes and returns the next message, or the next member that has ended; if there is none, adds the thread to those that
    /// wait.
    private func look(mayWait: Bool) -> Finding {
        var next: ThreadGate?
        var again: Member?
        var pump = PortQueue.Pump()
        let finding: Finding = receiving.withLock { turn in
            while true {
                let member: Member
                // If another thread makes a member ready just now, that member has its turn after this message.
                if let current = turn.current, readyCount.load(ordering: .relaxed) == 0 {
                    member = current
                } else {
                    var end = Finding.again
                    let first = takeFirst(after: turn.current.take(), &next, mayWait: mayWait, &end)
                    guard let first else { return end }
                    member = first
                }
                if member.core.isClosed { return .ended(member, detach(member, &turn)) }
                let (node, hasMore) = member.take(&pump)
                if let node {
                    // A thread that sleeps can take the member's next message. No thread begins to sleep meanwhile, because it
                    // would do so under this lock. So the count is not too low.
                    if hasMore && sleeperCount.load(ordering: .relaxed) == 0 {
                        // Usually the member stays the same, and then nothing is written.
                        if turn.current !== member { turn.current = member }
                    } else {
                        turn.current = nil
                        if hasMore { again = member }
                    }
                    return .message(member, node)
                }
                turn.current = nil
                if hasMore { changeLine { $0.append(member) } }
            }
        }
        if let again { becameReady(again) }
        next?.open()
        pump.finish()
        return finding
    }

    /// Removes the first ready member from the queue.
    ///
    /// The caller holds the `receiving` lock.
    ///
    /// - Parameters:
    ///   - current: The member that has had its turn, and comes last.
    ///   - next: The gate of a thread that the caller wakes for another ready member.
    ///   - mayWait: True to add the thread to those that wait if no member is ready.
    ///   - end: The result of the look if no member is ready.
    /// - Returns: The member; nil if none is ready.
    private func takeFirst(
        after current: Member?, _ next: inout ThreadGate?, mayWait: Bool, _ end: inout Finding
    ) -> Member? {
        changeLine { line in
            if let current { line.append(current) }
            if let member = line.ready.popFirst() {
                // The flag is cleared before the member is armed, because a sender can queue an armed member at once.
                member.isReady = false
                // Another thread can take the message of the next ready member.
                if !line.ready.isEmpty && next == nil { next = line.waiting.popFirst() }
                return member
            }
            // The gate of another thread is opened before this thread sleeps.
            if next != nil { return nil }
            if line.members.isEmpty {
                end = .noMembers
            } else if mayWait {
                let gate = ThreadGate()
                line.waiting.append(gate)
                end = .sleeps(gate)
            } else {
                end = .timedOut
            }
            return nil
        }
    }

    /// Records that the calling thread receives from the set, for the detection of deadlocks.
    private func serveHere() {
        let here = PortSetServers.thread
        if server.load(ordering: .relaxed) == here { return }
        PortSetServers.record(id, server, to: here)
    }
}

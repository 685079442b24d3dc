internal import CThreads
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
    /// message out of a full port, it queues the messages of the port's waiting senders, and wakes the senders. A sender never
    /// takes this lock, only the lock of `line`. No user code runs under this lock.
    private let receiving = Guarded(())

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
        let (member, released): (Member?, Deque<ThreadGate>) = receiving.withLock { _ in
            guard let member = line.withLock({ $0.members[ObjectIdentifier(core)] }) else { return (nil, []) }
            return (member, detach(member))
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
    private func detach(_ member: Member) -> Deque<ThreadGate> {
        let released: Deque<ThreadGate> = line.withLock { line in
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
        let gate = line.withLock { line in
            line.append(member)
            return line.ready.isEmpty ? nil : line.waiting.popFirst()
        }
        gate?.open()
    }

    /// The result of one attempt to take a message.
    private enum Finding {
        case message(Member, Member.Taken)
        case ended(Member, Deque<ThreadGate>)
        case nothing
    }

    /// The result of waiting for a message.
    enum Reception {
        case message(Member, Member.Taken)
        /// A member has ended, and has left the set.
        ///
        /// The end of a member is reported only if its ``PortSetMember/reportsEnd`` is true.
        case end(Member)
    }

    /// Waits for the first message of any member.
    func receive(before deadline: Moment) throws(PortSetError) -> Reception {
        Fork.check("PortSet.receive")
        serveHere()
        var mayWait = deadline == .never || deadline > Moment.now()
        while true {
            switch look() {
            case .message(let member, let message): return .message(member, message)
            case .ended(let member, let released):
                didDetach(member, released)
                if member.reportsEnd { return .end(member) }
                continue
            case .nothing: break
            }
            let gate = ThreadGate()
            let isEmpty: Bool? = line.withLock { line in
                if !line.ready.isEmpty { return nil }
                if line.members.isEmpty { return true }
                if mayWait { line.waiting.append(gate) }
                return false
            }
            guard let isEmpty else { continue }
            if isEmpty { throw .noMembers }
            if !mayWait { throw .timedOut }
            if gate.wait(until: deadline) { continue }
            // Another thread that made a member ready can have chosen to wake this thread just as this thread timed out. In that
            // case no third thread was woken for the member, so this thread checks once more.
            line.withLock { $0.waiting.removeAll { $0 === gate } }
            mayWait = false
        }
    }

    /// Removes and returns the next message, or the next member that has ended.
    private func look() -> Finding {
        var next: ThreadGate?
        var again: Member?
        let finding: Finding = receiving.withLock { _ in
            while true {
                let member: Member? = line.withLock { line in
                    guard let member = line.ready.popFirst() else { return nil }
                    // The flag is cleared before the member is armed, because a sender can queue an armed member at once.
                    member.isReady = false
                    // Another thread can take the message of the next ready member.
                    if !line.ready.isEmpty && next == nil { next = line.waiting.popFirst() }
                    return member
                }
                guard let member else { return .nothing }
                if member.core.isClosed { return .ended(member, detach(member)) }
                let (taken, hasMore) = member.take()
                if let taken {
                    if hasMore { again = member }
                    return .message(member, taken)
                }
                if hasMore { line.withLock { $0.append(member) } }
            }
        }
        if let again { becameReady(again) }
        next?.open()
        return finding
    }

    /// Records that the calling thread receives from the set, for the detection of deadlocks.
    private func serveHere() {
        let here = PortSetServers.thread
        if server.load(ordering: .relaxed) == here { return }
        PortSetServers.record(id, server, to: here)
    }
}

internal import CThreads
internal import DequeModule
internal import Synchronization

/// The members of a set, and the threads that wait for their messages.
@usableFromInline
final class PortSetCore: Sendable {
    typealias Member = PortSetMember

    /// The members with something to receive, and who waits.
    ///
    /// A leaf, which senders take, too.
    private let line = Guarded(Line())

    /// Held by whoever does with members what only their receiver may: takes a message out, adds one, removes one.
    ///
    /// Not a leaf: whoever takes a message out of a full port queues those of its waiting senders, and lets them go. They
    /// never want this lock for it, only that of the line, nor does any code of the user's run under it.
    private let receiving = Guarded(())

    /// Which thread has received last: 0, or its number.
    private let server = Atomic<UInt>(0)

    /// Guarded by the lock of the line, with the members' own places in it.
    private struct Line: @unchecked Sendable {
        var members: [ObjectIdentifier: Member] = [:]
        /// Those with something to receive, in turn.
        var ready = Deque<Member>()
        /// Those who wait, first come, first woken.
        var waiting = Deque<ThreadGate>()

        mutating func append(_ member: Member) {
            if member.isDetached || member.isReady { return }
            member.isReady = true
            ready.append(member)
        }
    }

    var count: Int { line.withLock { $0.members.count } }

    /// How many threads sleep, or are about to.
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

    /// The set's last reference has gone.
    func end() {
        if Fork.isChild { return }
        while let core = line.withLock({ $0.members.first?.value.core }) { remove(core) }
        PortSetServers.record(id, server, to: 0)
    }

    /// Takes a member out, in the turn.
    ///
    /// - Returns: Who is to be woken, because there is nothing left to wait for.
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

    /// What follows when the turn is over.
    private func didDetach(_ member: Member, _ released: Deque<ThreadGate>) {
        member.core.destroyWhatIsLeft()
        for gate in released { gate.open() }
    }

    // MARK: - Receiving

    /// A member has something to receive, or has ended.
    func becameReady(_ member: Member) {
        let gate = line.withLock { line in
            line.append(member)
            return line.ready.isEmpty ? nil : line.waiting.popFirst()
        }
        gate?.open()
    }

    /// What a look at the line finds.
    private enum Finding {
        case message(Member, Member.Taken)
        case ended(Member, Deque<ThreadGate>)
        case nothing
    }

    /// What is received.
    enum Reception {
        case message(Member, Member.Taken)
        /// The end of a member that has left the set, and says something at its end.
        case end(Member)
    }

    /// Waits for what comes first.
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
            // Who has just been woken by a message must not leave it to nobody: one more look.
            line.withLock { $0.waiting.removeAll { $0 === gate } }
            mayWait = false
        }
    }

    /// Takes a message of the member whose turn it is.
    private func look() -> Finding {
        var next: ThreadGate?
        var again: Member?
        let finding: Finding = receiving.withLock { _ in
            while true {
                let member: Member? = line.withLock { line in
                    guard let member = line.ready.popFirst() else { return nil }
                    // Before it is armed: from then on a sender may put it back.
                    member.isReady = false
                    // Another one may take what the next member has.
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

    /// The calling thread is the one that serves the set.
    private func serveHere() {
        let here = PortSetServers.thread
        if server.load(ordering: .relaxed) == here { return }
        PortSetServers.record(id, server, to: here)
    }
}

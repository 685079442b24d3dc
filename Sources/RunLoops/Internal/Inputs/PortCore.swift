internal import Synchronization

/// What a port is, whatever its messages are.
///
/// Senders push onto ``mailbox``; the receiver takes all at once into ``backlog`` and hands them out one by one.
/// A port that is in a loop and empty arms its mailbox with its ``ReadyNode``: the next sender gets that, and
/// sends it to the loop.
@usableFromInline
final class PortCore: Sendable {
    /// Where senders push; its word carries the room that is left.
    ///
    /// That is less than the room there is, by the messages handed out since a sender last looked: so senders need not read
    /// what the receiver writes each time.
    let mailbox: Mailbox

    /// The number of messages handed out whose room is in the mailbox again.
    ///
    /// Written under the lock of `waitingSenders`.
    let roomReturned = Atomic<UInt64>(0)

    /// Keeps what senders write off the cache lines of what all sides read for each message: two lines, because processors
    /// fetch them in pairs.
    private let paddingOfSenders = InlineArray<16, UInt64>(repeating: 0)

    /// How many senders wait.
    ///
    /// Written under the lock of `waitingSenders`.
    let waitingCount = Atomic<Int>(0)

    /// 0 for none.
    let limit: UInt64

    /// For a port without messages: its signals merge here, and the mailbox stays empty.
    let bell = Doorbell()
    let merges: Bool

    /// Keeps what the receiver writes off the cache lines that all read.
    private let paddingOfReceiver = InlineArray<16, UInt64>(repeating: 0)

    /// How many messages were handed out.
    ///
    /// Written by the receiver only.
    let handedOut = Atomic<UInt64>(0)
    let closedFlag = Atomic<Bool>(false)
    let waitingSenders = Guarded(WaitingSenders())
    /// How many answers came after their requester had given up.
    let lateReplies = Atomic<Int>(0)
    let rightsRecord = Guarded(RightsRecord())

    /// Which loop receives; whoever has it may touch the two below.
    let claim = Claim()

    /// Taken in and not yet handed out, oldest first.
    ///
    /// `nonisolated(unsafe)`, these two: guarded by `claim`.
    nonisolated(unsafe) let backlog = ExclusivityUnchecked(NodeList())
    nonisolated(unsafe) var input: PortInput?

    let origin: SourceLocation
    /// Destroys a message.
    let destroyMessage: @Sendable (Node.Slot) -> Void
    /// Puts a message into an empty node.
    let moveMessage: @Sendable (Node.Slot, Node) -> Void

    init(
        limit: Int?, merges: Bool, origin: SourceLocation,
        destroy: @escaping @Sendable (Node.Slot) -> Void,
        move: @escaping @Sendable (Node.Slot, Node) -> Void
    ) {
        self.limit = UInt64(limit ?? 0)
        mailbox = Mailbox(room: UInt64(limit ?? 0))
        self.merges = merges
        self.origin = origin
        destroyMessage = destroy
        moveMessage = move
    }

    deinit {
        destroyAll(mailbox.close().nodes)
        destroyBacklog()
    }

    var isClosed: Bool { closedFlag.load(ordering: .acquiring) }

    // MARK: - Sending

    /// Why a message was not sent.
    @usableFromInline
    enum Refusal: Sendable {
        case timedOut
        case invalid
        case wouldDeadlock
    }

    /// Gives back a node that was emptied again.
    @usableFromInline
    static func discard(_ node: Node) {
        var releaser = NodeReleaser()
        releaser.release(node)
    }

    /// Queues one message, waiting for room if there is none.
    ///
    /// - Returns: Nil, or why not: then the node is the caller's still.
    @usableFromInline
    func send(_ node: Node) -> Refusal? {
        // Apart from the one with a deadline, because an instant costs more to pass on than the rest takes.
        send(Mailbox.Chain(node)) { .never }
    }

    @usableFromInline
    func send(_ node: Node, before deadline: ContinuousClock.Instant) -> Refusal? {
        send(Mailbox.Chain(node)) { Moment(deadline) }
    }

    /// Queues several messages at once, linked newest to oldest, all or none.
    @usableFromInline
    func send(_ newest: Node?, _ count: Int, before deadline: ContinuousClock.Instant?) -> Refusal? {
        guard let newest else { return nil }
        return send(Mailbox.Chain(newest: newest, count: count)) { deadline.map(Moment.init) ?? .never }
    }

    @inline(__always)
    private func send(_ chain: Mailbox.Chain, before deadline: () -> Moment) -> Refusal? {
        Fork.check("Port.send")
        // Senders that wait were here first.
        if limit == 0 || waitingCount.load(ordering: .relaxed) == 0 {
            switch push(chain) {
            case .queued: return nil
            case .queuedToArmed(let signal):
                if let signal { ReadyNode.send(signal) }
                return nil
            case .closed: return .invalid
            case .full, .raced: break
            }
        }
        return waitForRoom(chain, deadline())
    }

    /// Rings the bell of a port without messages.
    @usableFromInline
    func ring() -> Refusal? {
        Fork.check("Port.send")
        step(.closedLooks)
        if isClosed { return .invalid }
        if let signal = bell.ring() { ReadyNode.send(signal) }
        return nil
    }
}

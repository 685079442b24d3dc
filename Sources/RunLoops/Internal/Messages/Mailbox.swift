internal import CLibEvent
internal import Synchronization

/// The queue through which all other threads send to a loop or a port.
///
/// The state of the queue is one atomic integer, the *word*. It points to a linked stack of nodes, newest first. It also tells
/// whether the receiver sleeps: an armed mailbox is empty, and its receiver does not check it again until the receiver is
/// signalled. A push and the arming change the same word, so one of the two comes first: either the arming finds a node and fails,
/// or the push finds the word armed and its sender signals. No wake-up is lost, and no second flag or fence is needed.
///
/// The word also contains the *room*: the number of nodes that may still be pushed. One compare-and-exchange queues the nodes of a
/// push and takes room for them, so a sender's check and its push are one atomic operation. If the exchange succeeds, the room that
/// the sender saw is the present room, however long the sender was stalled and however often the word has changed in the meantime.
/// Only ``addRoom(_:)`` gives back room.
///
/// > Thread safety: ``push(_:)``, ``pushIfRoom(_:)``, ``tryPush(_:onto:)``, ``addRoom(_:)`` and ``close()`` from any thread;
/// > ``take()``, ``arm(with:)`` and ``disarm()`` from the receiver's thread only.
struct Mailbox: ~Copyable, Sendable {
    /// The mailbox's single word, a ``Word``.
    ///
    /// Every change is a compare-and-exchange, except for the one exchange that closes the mailbox.
    ///
    /// A push stores with release ordering, and a take loads with acquire ordering. So the receiver that takes a node sees all that
    /// the sender wrote to it. The exchanges of other pushes in between continue the release sequence.
    private let word: Atomic<UInt64>

    /// Creates an empty mailbox.
    ///
    /// - Parameter room: The number of nodes that ``pushIfRoom(_:)`` can queue before ``addRoom(_:)`` gives back room; below 2²⁰.
    init(room: UInt64 = 0) { word = Atomic(Word(room: room).bits) }

    /// The outcome of a push.
    enum Push {
        /// The nodes are queued.
        ///
        /// The receiver is awake, or another sender has signalled it.
        case queued
        /// The nodes are queued in a mailbox that was armed before the push.
        ///
        /// The caller must signal the receiver. The associated value is the node that the mailbox was armed with, which the caller
        /// now owns; it is nil if the mailbox was armed without a node.
        case queuedToArmed(signal: Node?)
        /// The push is refused because the mailbox is closed.
        ///
        /// The caller still owns the nodes.
        case closed
        /// The push is refused because there is too little room.
        ///
        /// The caller still owns the nodes.
        case full
        /// The push is refused because another thread has changed the word in the meantime.
        ///
        /// The caller must load the word again.
        case raced
    }

    /// The present word.
    ///
    /// Another thread can change the word at any time after this load. If ``tryPush(_:onto:)`` succeeds with the returned value,
    /// the word still had that value at the time of the push.
    var current: Word { Word(bits: word.load(ordering: .relaxed)) }

    /// Loads the present word with acquire ordering, so that the caller sees the stores that earlier pushes have released.
    func acquireCurrent() -> Word { Word(bits: word.load(ordering: .acquiring)) }

    /// Pushes nodes, if the word still has the value that the caller loaded.
    ///
    /// The push is also correct if the word has changed in between and has then changed back. The push depends only on the present
    /// value: on the newest node, on whether the mailbox is armed and with which node, and on the room that is left.
    func tryPush(_ chain: Chain, onto seen: Word) -> Push {
        if seen.isClosed { return .closed }
        chain.oldest.link(to: seen.isArmed ? nil : seen.node)
        racePoint(.pushExchanges)
        let (exchanged, _) = word.weakCompareExchange(
            expected: seen.bits, desired: seen.pushing(chain).bits,
            successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
        guard exchanged else {
            // The link is removed again, because the sender of refused nodes follows the links to their end.
            chain.oldest.link(to: nil)
            return .raced
        }
        return seen.isArmed ? .queuedToArmed(signal: seen.node) : .queued
    }

    /// Pushes nodes, even if there is no room for them.
    @inline(__always)
    func push(_ chain: Chain) -> Push {
        while true {
            racePoint(.pushLooks)
            let push = tryPush(chain, onto: current)
            if case .raced = push { continue }
            return push
        }
    }

    /// Pushes nodes, if there is room for all of them.
    @inline(__always)
    func pushIfRoom(_ chain: Chain) -> Push {
        while true {
            racePoint(.pushLooks)
            let seen = current
            if seen.room < UInt64(chain.count) { return seen.isClosed ? .closed : .full }
            let push = tryPush(chain, onto: seen)
            if case .raced = push { continue }
            return push
        }
    }

    /// Gives back room that a push has taken.
    ///
    /// A closed mailbox does not change.
    func addRoom(_ count: UInt64) {
        var seen = current
        while !seen.isClosed {
            racePoint(.roomMoves)
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen.bits, desired: seen.adding(room: count).bits,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchanged { return }
            seen = Word(bits: original)
        }
    }

    /// Removes and returns all nodes, oldest first.
    ///
    /// Afterwards the mailbox is not armed.
    func take() -> NodeList {
        racePoint(.takeLooks)
        var seen = current
        while seen.node != nil || seen.isArmed {
            racePoint(.takeExchanges)
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen.bits, desired: seen.emptied.bits,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            guard exchanged else {
                seen = Word(bits: original)
                continue
            }
            guard !seen.isArmed, let newest = seen.node else { return NodeList() }
            // Between threads that answer each other, a single node is the usual case.
            return newest.next == nil ? NodeList(newest) : Mailbox.oldestFirst(newest)
        }
        return NodeList()
    }

    /// Arms the mailbox, so that the next sender must signal the receiver.
    ///
    /// Until a sender has signalled, the receiver does not check the mailbox again.
    ///
    /// - Parameter signal: The node that the next sender gets and then owns; nil for none.
    /// - Returns: False if a node is already queued or the mailbox is closed; the call then changes nothing.
    func arm(with signal: Node? = nil) -> Bool {
        racePoint(.armLooks)
        var seen = current
        while seen.node == nil && !seen.isArmed && !seen.isClosed {
            racePoint(.armExchanges)
            let (exchanged, original) = word.compareExchange(
                expected: seen.bits, desired: seen.armed(with: signal).bits,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchanged { return true }
            // The exchange is repeated if only the room has changed, because the receiver would conclude from a failure that mail
            // has arrived.
            seen = Word(bits: original)
        }
        return false
    }

    /// Disarms the mailbox.
    ///
    /// - Returns: True if the mailbox was still armed. In that case, the receiver again owns the node with which it armed the
    ///   mailbox. False if a sender has taken that node.
    func disarm() -> Bool {
        racePoint(.disarmLooks)
        var seen = current
        while seen.isArmed {
            racePoint(.disarmExchanges)
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen.bits, desired: seen.emptied.bits,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchanged { return true }
            seen = Word(bits: original)
        }
        return false
    }

    /// Closes the mailbox, which refuses all later pushes.
    ///
    /// - Returns: The queued nodes, oldest first, and the node that the mailbox was armed with. The caller owns both.
    func close() -> (nodes: NodeList, signal: Node?) {
        racePoint(.mailboxCloses)
        let seen = Word(bits: word.exchange(Word.closed.bits, ordering: .acquiringAndReleasing))
        if seen.isArmed { return (NodeList(), seen.node) }
        return (Mailbox.oldestFirst(seen.node), nil)
    }

    private static func oldestFirst(_ newest: Node?) -> NodeList {
        var list = NodeList()
        var rest = newest
        var slab: Slab?
        while let node = rest {
            // The nodes are in the sender's cache, and each node is found through the previous node, so waiting for one cache line
            // after the other would take most of the time. A sender fills its slab from front to back, so the older nodes usually
            // come first in memory. Beyond the slab, the prefetch has no effect.
            let ahead = 8
            unsafe runloops_prefetch(node.address - ahead * Node.stride)
            let nodes = Slab(containing: unsafe UInt(bitPattern: node.address))
            if nodes.address != slab?.address {
                slab = nodes
                for distance in 1..<ahead { unsafe runloops_prefetch(node.address - distance * Node.stride) }
            }
            rest = node.next
            list.prepend(node)
        }
        return list
    }
}

extension Mailbox {
    /// Nodes that one sender pushes together, linked newest to oldest.
    struct Chain: Sendable {
        let newest: Node
        let oldest: Node
        let count: Int

        init(_ node: Node) {
            newest = node
            oldest = node
            count = 1
        }

        /// Creates a chain of one node that takes no room in the mailbox.
        init(uncounted node: Node) {
            newest = node
            oldest = node
            count = 0
        }

        /// Creates a chain of nodes that are already linked, from the newest to the oldest.
        init(newest: Node, count: Int) {
            self.newest = newest
            self.count = count
            var oldest = newest
            while let older = oldest.next { oldest = older }
            self.oldest = oldest
        }
    }
}

internal import CLibEvent
internal import Synchronization

/// The one word through which all other threads reach a loop or a port.
///
/// It is the head of a stack of nodes, newest first, and it carries the receiver's sleep state: an armed
/// mailbox is empty and its receiver will not look again until it is signalled. Both a push and the
/// arming change this same word, so one comes before the other: either the arming finds a node and
/// fails, or the push finds the word armed and its sender signals. No wake-up can fall between, and no
/// second flag or fence is needed.
///
/// > Thread safety: ``push(_:)``, ``tryPush(_:onto:)`` and ``close()`` from any thread; ``take()``,
/// > ``arm(with:)`` and ``disarm()`` from the receiver's thread only.
struct Mailbox: ~Copyable, Sendable {
    /// Changed by compare-and-exchange, and once more by the exchange that closes it.
    ///
    /// A push releases its nodes to the take that acquires them; the exchanges of other pushes in
    /// between continue that release.
    private let word = Atomic<UInt64>(0)

    /// What became of a push.
    enum Push {
        /// Queued; the receiver is awake, or somebody else has signalled it.
        case queued
        /// Queued, and the receiver had armed the mailbox with this: the caller now owns it and signals.
        case queuedToArmed(signal: Node?)
        /// Refused: the mailbox is closed, and the nodes are still the caller's.
        case closed
        /// Refused: another thread changed the word meanwhile; look again.
        case raced
    }

    /// What the word says now.
    ///
    /// A guess, until a push onto it succeeds.
    var current: Word { Word(bits: word.load(ordering: .relaxed)) }

    /// ``current``, with all that came before it.
    func acquireCurrent() -> Word { Word(bits: word.load(ordering: .acquiring)) }

    /// Adds nodes, newest on top, if the word is still what the caller saw.
    func tryPush(_ chain: Chain, onto seen: Word) -> Push {
        if seen.isClosed { return .closed }
        chain.oldest.link(to: seen.isArmed ? nil : seen.node)
        step(.pushExchanges)
        let (exchanged, _) = word.weakCompareExchange(
            expected: seen.bits, desired: seen.pushing(chain).bits,
            successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
        guard exchanged else {
            // As it was: if the nodes are refused after all, their sender walks them to their end.
            chain.oldest.link(to: nil)
            return .raced
        }
        return seen.isArmed ? .queuedToArmed(signal: seen.node) : .queued
    }

    /// Adds nodes, newest on top.
    @inline(__always)
    func push(_ chain: Chain) -> Push {
        while true {
            step(.pushLooks)
            let push = tryPush(chain, onto: current)
            if case .raced = push { continue }
            return push
        }
    }

    /// Takes all nodes, oldest first.
    ///
    /// The mailbox is no longer armed then.
    func take() -> NodeList {
        step(.takeLooks)
        var seen = current
        while seen.node != nil || seen.isArmed {
            step(.takeExchanges)
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen.bits, desired: seen.emptied.bits,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchanged { return seen.isArmed ? NodeList() : Mailbox.oldestFirst(seen.node) }
            seen = Word(bits: original)
        }
        return NodeList()
    }

    /// Declares that the receiver will not look again until it is signalled.
    ///
    /// - Parameter signal: What the sender that must signal is given, with the ownership of it.
    /// - Returns: False if there is a node already, or the mailbox is closed: then nothing has changed.
    func arm(with signal: Node? = nil) -> Bool {
        step(.armLooks)
        let seen = current
        if seen.node != nil || seen.isArmed || seen.isClosed { return false }
        step(.armExchanges)
        return word.compareExchange(
            expected: seen.bits, desired: seen.armed(with: signal).bits,
            successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
        ).exchanged
    }

    /// Takes back the arming.
    ///
    /// - Returns: True if it was armed still: then what it was armed with is the receiver's again. False
    ///   if a sender has it.
    func disarm() -> Bool {
        step(.disarmLooks)
        var seen = current
        while seen.isArmed {
            step(.disarmExchanges)
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen.bits, desired: seen.emptied.bits,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchanged { return true }
            seen = Word(bits: original)
        }
        return false
    }

    /// Refuses all pushes from now on.
    ///
    /// - Returns: What was queued, oldest first, and what the mailbox was armed with; both are the caller's.
    func close() -> (nodes: NodeList, signal: Node?) {
        step(.mailboxCloses)
        let seen = Word(bits: word.exchange(Word.closed.bits, ordering: .acquiringAndReleasing))
        if seen.isArmed { return (NodeList(), seen.node) }
        return (Mailbox.oldestFirst(seen.node), nil)
    }

    private static func oldestFirst(_ newest: Node?) -> NodeList {
        var list = NodeList()
        var rest = newest
        var slab: Slab?
        while let node = rest {
            // The nodes are in the sender's cache, and each is found through the one before: waiting for one
            // line after the other would take most of the time. A sender fills its slab from front to back, so
            // the older nodes are mostly in front; beyond the slab this asks for nothing of use, and harms nothing.
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
    /// Nodes that one sender pushes at once, linked newest to oldest.
    struct Chain: Sendable {
        let newest: Node
        let oldest: Node
        let count: Int

        init(_ node: Node) {
            newest = node
            oldest = node
            count = 1
        }

        /// A node that the mailbox does not count.
        init(uncounted node: Node) {
            newest = node
            oldest = node
            count = 0
        }

        /// Nodes that are linked already, from the newest one on.
        init(newest: Node, count: Int) {
            self.newest = newest
            self.count = count
            var oldest = newest
            while let older = oldest.next { oldest = older }
            self.oldest = oldest
        }
    }

    /// The word's parts.
    ///
    /// | bits | part |
    /// |---|---|
    /// | 0–41 | the newest node, or what the mailbox is armed with: an address without its six zero bits |
    /// | 42–61 | how many nodes that count were ever pushed, modulo 2²⁰ |
    /// | 62 | armed |
    /// | 63 | closed |
    struct Word: Equatable {
        let bits: UInt64

        private static let addressShift: UInt64 = 6
        private static let addressMask: UInt64 = 1 << 42 - 1
        private static let sequenceShift: UInt64 = 42
        static let sequenceMask: UInt64 = 1 << 20 - 1
        private static let armedBit: UInt64 = 1 << 62
        private static let closedBit: UInt64 = 1 << 63

        static let closed = Word(bits: closedBit)

        var isClosed: Bool { bits & Word.closedBit != 0 }
        var isArmed: Bool { bits & Word.armedBit != 0 }

        /// The newest node; in an armed word what it was armed with.
        var node: Node? {
            // Safe: the address was that of a node when it was put in, and a word that changed since fails
            // the exchange that would give the caller the node.
            unsafe UnsafeMutableRawPointer(bitPattern: UInt(bits & Word.addressMask) << Word.addressShift)
                .map { unsafe Node($0) }
        }

        /// How many nodes that count were ever pushed, modulo 2²⁰.
        var sequence: UInt64 { bits >> Word.sequenceShift & Word.sequenceMask }

        func pushing(_ chain: Chain) -> Word {
            Word(sequence: sequence &+ UInt64(chain.count), node: chain.newest)
        }

        var emptied: Word { Word(sequence: sequence, node: nil) }

        func armed(with signal: Node?) -> Word {
            Word(bits: Word(sequence: sequence, node: signal).bits | Word.armedBit)
        }

        init(bits: UInt64) { self.bits = bits }

        private init(sequence: UInt64, node: Node?) {
            let address = unsafe UInt64(UInt(bitPattern: node?.address))
            bits = address >> Word.addressShift | (sequence & Word.sequenceMask) << Word.sequenceShift
        }

        /// Whether a node at this address can be told from another: user space of 48 bits, 64-byte aligned.
        static func canHold(_ address: UnsafeMutableRawPointer) -> Bool {
            UInt64(UInt(bitPattern: address)) & ~(addressMask << addressShift) == 0
        }
    }
}

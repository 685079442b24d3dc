import TestSupport
import Testing

@testable import RunLoops

/// The word through which other threads send to a loop or a port.
@Suite struct MailboxTests {
    @Test func `messages come out oldest first, whether pushed one by one or in chains`() {
        let mailbox = Box()
        let nodes = (0..<6).map { _ in Node.make() }
        defer { discard(nodes) }
        mailbox.pushNodes(nodes[0...0])
        mailbox.pushNodes(nodes[1...3])
        mailbox.pushNodes(nodes[4...4])
        mailbox.pushNodes(nodes[5...5])
        #expect(mailbox.take() == nodes)
        #expect(mailbox.take() == [])
    }

    @Test func `a mailbox that holds something is not armed`() {
        let mailbox = Box()
        let nodes = (0..<2).map { _ in Node.make() }
        defer { discard(nodes) }
        mailbox.pushNodes(nodes[0...0])
        #expect(!mailbox.arm(nodes[1]))
        #expect(mailbox.take() == [nodes[0]])
        #expect(mailbox.arm(nodes[1]))
        #expect(!mailbox.arm(nodes[1]), "it is armed already")
    }

    @Test func `the push that replaces the arming gets the signal, later ones do not`() {
        let mailbox = Box()
        let nodes = (0..<3).map { _ in Node.make() }
        defer { discard(nodes) }
        #expect(mailbox.arm(nodes[2]))
        guard case .queuedToArmed(let signal) = mailbox.mailbox.push(Mailbox.Chain(nodes[0])) else {
            Issue.record("the first push did not find the mailbox armed")
            return
        }
        #expect(signal == nodes[2])
        guard case .queued = mailbox.mailbox.push(Mailbox.Chain(nodes[1])) else {
            Issue.record("the second push has something to do")
            return
        }
        #expect(mailbox.take() == [nodes[0], nodes[1]])
    }

    @Test func `disarming reports whether a sender has the node`() {
        let mailbox = Box()
        let nodes = (0..<2).map { _ in Node.make() }
        defer { discard(nodes) }
        #expect(!mailbox.disarm())
        #expect(mailbox.arm(nodes[0]))
        #expect(mailbox.disarm())
        #expect(mailbox.arm(nodes[0]))
        _ = mailbox.mailbox.push(Mailbox.Chain(nodes[1]))
        #expect(!mailbox.disarm())
        #expect(mailbox.take() == [nodes[1]])
    }

    @Test func `taking from an armed mailbox disarms it`() {
        let mailbox = Box()
        let node = Node.make()
        defer { discard([node]) }
        #expect(mailbox.arm(nil))
        #expect(mailbox.take() == [])
        guard case .queued = mailbox.mailbox.push(Mailbox.Chain(node)) else {
            Issue.record("the mailbox is armed still")
            return
        }
        #expect(mailbox.take() == [node])
    }

    @Test func `closing returns the queued nodes or the armed node, and refuses every later push`() {
        let mailbox = Box()
        let nodes = (0..<3).map { _ in Node.make() }
        defer { discard(nodes) }
        mailbox.pushNodes(nodes[...])
        let queued = mailbox.close()
        #expect(queued.nodes == nodes)
        #expect(queued.signal == nil)
        #expect(mailbox.isClosed)
        #expect(!mailbox.arm(nodes[0]))
        guard case .closed = mailbox.mailbox.push(Mailbox.Chain(nodes[0])) else {
            Issue.record("a closed mailbox took a message")
            return
        }
        #expect(mailbox.take() == [])
        #expect(mailbox.close().nodes == [])

        let sleeping = Box()
        #expect(sleeping.arm(nodes[1]))
        let armed = sleeping.close()
        #expect(armed.nodes == [])
        #expect(armed.signal == nodes[1])
    }

    @Test func `a push that asks for room is refused where there is too little, and takes what it asks for`()
    {
        let mailbox = Box(room: 3)
        let nodes = (0..<6).map { _ in Node.make() }
        defer { discard(nodes) }
        #expect(mailbox.pushIfRoom(nodes[0...1]) == "queued")
        #expect(mailbox.pushIfRoom(nodes[2...3]) == "full")
        #expect(mailbox.pushIfRoom(nodes[2...2]) == "queued")
        #expect(mailbox.pushIfRoom(nodes[3...3]) == "full")
        // Neither taking the messages nor arming returns room.
        #expect(mailbox.take() == Array(nodes[0...2]))
        #expect(mailbox.arm(nodes[5]))
        #expect(mailbox.pushIfRoom(nodes[3...3]) == "full")
        mailbox.mailbox.addRoom(2)
        #expect(mailbox.pushIfRoom(nodes[3...4]) == "queued to armed")
        #expect(mailbox.mailbox.current.room == 0)
        #expect(mailbox.close().nodes == Array(nodes[3...4]))
        mailbox.mailbox.addRoom(2)
        #expect(mailbox.mailbox.current == .closed)
        #expect(mailbox.pushIfRoom(nodes[3...3]) == "closed")
    }

    @Test func `a push onto a word that has changed since is refused`() {
        let mailbox = Box()
        let nodes = (0..<2).map { _ in Node.make() }
        defer { discard(nodes) }
        let seen = mailbox.mailbox.current
        mailbox.pushNodes(nodes[0...0])
        guard case .raced = mailbox.mailbox.tryPush(Mailbox.Chain(nodes[1]), onto: seen) else {
            Issue.record("a push onto an old word succeeded")
            return
        }
        #expect(mailbox.take() == [nodes[0]])
        guard case .raced = mailbox.mailbox.tryPush(Mailbox.Chain(nodes[1]), onto: seen) else {
            Issue.record("an empty mailbox took a push onto the word from before its messages")
            return
        }
    }

    @Test func `a refused chain is as it was, and ends where its sender ended it`() {
        let mailbox = Box()
        let nodes = (0..<5).map { _ in Node.make() }
        defer { discard(nodes) }
        mailbox.pushNodes(nodes[0...0])
        let seen = mailbox.mailbox.current
        mailbox.pushNodes(nodes[1...1])
        let refused = chain(nodes[2...4])
        guard case .raced = mailbox.mailbox.tryPush(refused, onto: seen) else {
            Issue.record("a push onto an old word succeeded")
            return
        }
        #expect(refused.newest == nodes[4])
        #expect(nodes[4].next == nodes[3] && nodes[3].next == nodes[2])
        #expect(nodes[2].next == nil)
        #expect(mailbox.take() == [nodes[0], nodes[1]])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `after any operations a mailbox equals an array`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let mailbox = Box()
        let signal = Node.make()
        let nodes = (0..<200).map { _ in Node.make() }
        defer { discard(nodes + [signal]) }
        var unused = nodes[...]
        var expected: [Node] = []
        var isArmed = false
        var pushed: UInt64 = 0
        while !unused.isEmpty {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                #expect(mailbox.take() == expected)
                expected = []
                isArmed = false
            case 1:
                #expect(mailbox.arm(signal) == (expected.isEmpty && !isArmed))
                if expected.isEmpty { isArmed = true }
            case 2:
                #expect(mailbox.disarm() == isArmed)
                isArmed = false
            default:
                let some = unused.prefix(.random(in: 1...4, using: &random))
                unused = unused.dropFirst(some.count)
                let push = mailbox.mailbox.push(chain(some))
                if case .queuedToArmed(let given) = push {
                    #expect(isArmed && given == signal)
                } else {
                    #expect(!isArmed)
                }
                isArmed = false
                expected += some
                pushed += UInt64(some.count)
            }
            let word = mailbox.mailbox.current
            #expect(word.isArmed == isArmed)
            #expect(word.sequence == pushed)
        }
        #expect(mailbox.take() == expected)
    }

    @Test(arguments: [1, 2, 4])
    func `from many threads, nothing is lost or doubled and each sender's order is kept`(
        senders: Int
    ) throws {
        let box = Box()
        let signal = Shared(0)
        let each = 20_000
        let threads = try Threads(senders) { sender in
            var sent = 0
            while sent < each {
                var some: [Node] = []
                for _ in 0..<min(1 + sent % 3, each - sent) {
                    let node = Node.make()
                    node.store(sender * each + sent)
                    some.append(node)
                    sent += 1
                }
                // Only the sender that gets the armed node wakes the receiver.
                if case .queuedToArmed = box.mailbox.push(chain(some[...])) { signal.increment() }
            }
        }
        var next = [Int](repeating: 0, count: senders)
        var armings = 0
        var received = 0
        var releaser = NodeReleaser()
        while received < senders * each {
            var mail = box.mailbox.take()
            while let node = mail.popFirst() {
                let number = node.move(Int.self)
                #expect(number % each == next[number / each])
                next[number / each] += 1
                received += 1
                releaser.release(node)
            }
            if received < senders * each && box.mailbox.arm() {
                armings += 1
                while signal.count < armings {}
            }
        }
        try threads.join()
        #expect(next == [Int](repeating: each, count: senders))
        #expect(signal.count == armings)
    }
}

/// The parts of a mailbox's word.
@Suite struct MailboxWordTests {
    private typealias Word = Mailbox.Word

    @Test func `a word holds every address of 48 bits, 64-byte aligned, and no other`() throws {
        for bit in 6..<48 {
            let node = try #require(address(1 << bit))
            #expect(unsafe Word.canHold(node.address))
            let word = Word(bits: 0).pushing(Mailbox.Chain(node))
            #expect(word.node == node)
            #expect(Word(bits: 0).armed(with: node).node == node)
        }
        let highest = try #require(address(0xFFFF_FFFF_FFC0))
        #expect(unsafe Word.canHold(highest.address))
        #expect(Word(bits: 0).pushing(Mailbox.Chain(highest)).node == highest)
        for bit in Array(0..<6) + Array(48..<64) {
            let other = try #require(address(1 << bit))
            #expect(unsafe !Word.canHold(other.address))
        }
    }

    @Test func `every push takes its room, which stays through every other change, and wraps`() {
        let node = Node.make()
        defer { PortCore.discard(node) }
        node.next = nil
        for count in [1, 2, 1_000_000] as [UInt64] {
            for start in [0, 1, 1_000_000, Word.roomMask - 1, Word.roomMask] {
                let word = Word(bits: start << 42)
                #expect(word.room == start)
                let pushed = word.pushing(Mailbox.Chain(newest: node, count: Int(count)))
                #expect(pushed.room == (start &- count) & Word.roomMask)
                #expect(pushed.sequence == (word.sequence + count) & Word.roomMask)
                #expect(!pushed.isArmed && !pushed.isClosed)
                for same in [
                    pushed.emptied, pushed.emptied.armed(with: nil), pushed.armed(with: node).emptied,
                ] {
                    #expect(same.room == pushed.room)
                }
            }
        }
    }

    @Test func `room is given back to any word, and nothing else changes`() throws {
        let node = try #require(address(0xFFFF_FFFF_FFC0))
        for room in [0, 1, 999_999] as [UInt64] {
            let empty = Word(room: room)
            for word in [
                empty, empty.armed(with: nil), empty.armed(with: node), Word(room: room, node: node),
            ] {
                let given = word.adding(room: 1_000_000 - room)
                #expect(given.room == 1_000_000)
                #expect(given.node == word.node && given.isArmed == word.isArmed && !given.isClosed)
            }
        }
    }

    @Test func `armed, closed and non-empty words are distinct`() throws {
        let node = try #require(address(0xFFFF_FFFF_FFC0))
        let full = Word(bits: Word.roomMask << 42).pushing(Mailbox.Chain(node))
        let armed = full.emptied.armed(with: node)
        #expect(armed.isArmed && !armed.isClosed && armed.node == node)
        let armedWithNothing = full.emptied.armed(with: nil)
        #expect(armedWithNothing.isArmed && armedWithNothing.node == nil)
        #expect(!full.isArmed && !full.isClosed)
        #expect(full.emptied.node == nil && !full.emptied.isArmed)
        #expect(Word.closed.isClosed && !Word.closed.isArmed && Word.closed.node == nil)
        #expect(armed.pushing(Mailbox.Chain(node)).isArmed == false)
    }

    /// Makes a node from an address that is never accessed.
    private func address(_ bits: UInt) -> Node? {
        // Safe: the memory is neither read nor written.
        unsafe UnsafeMutableRawPointer(bitPattern: bits).map { unsafe Node($0) }
    }
}

/// A class around a mailbox, because expectations need copyable values.
private final class Box: Sendable {
    let mailbox: Mailbox

    init(room: UInt64 = 0) { mailbox = Mailbox(room: room) }

    func pushIfRoom(_ nodes: ArraySlice<Node>) -> String {
        switch mailbox.pushIfRoom(chain(nodes)) {
        case .queued: "queued"
        case .queuedToArmed: "queued to armed"
        case .closed: "closed"
        case .full: "full"
        case .raced: "raced"
        }
    }

    var isClosed: Bool { mailbox.current.isClosed }

    /// Pushes nodes onto a mailbox that is not armed.
    func pushNodes(_ nodes: ArraySlice<Node>) {
        guard case .queued = mailbox.push(chain(nodes)) else {
            Issue.record("the mailbox is armed or closed")
            return
        }
    }

    func take() -> [Node] { array(mailbox.take()) }
    func arm(_ signal: Node?) -> Bool { mailbox.arm(with: signal) }
    func disarm() -> Bool { mailbox.disarm() }

    func close() -> (nodes: [Node], signal: Node?) {
        let (nodes, signal) = mailbox.close()
        return (array(nodes), signal)
    }
}

/// Links the nodes from newest to oldest, as a sender does.
private func chain(_ nodes: ArraySlice<Node>) -> Mailbox.Chain {
    var newest = nodes[nodes.startIndex]
    newest.next = nil
    for node in nodes.dropFirst() {
        node.next = newest
        newest = node
    }
    return Mailbox.Chain(newest: newest, count: nodes.count)
}

private func array(_ list: NodeList) -> [Node] {
    var rest = list
    var nodes: [Node] = []
    while let node = rest.popFirst() { nodes.append(node) }
    return nodes
}

private func discard(_ nodes: [Node]) { for node in nodes { PortCore.discard(node) } }

import TestSupport
import Testing

@testable import RunLoops

/// A message in the raw memory of a node.
@Suite struct NodeTests {
    /// The largest value that a node holds.
    private struct Largest: Equatable {
        var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4, 5, 6)
        static func == (left: Largest, right: Largest) -> Bool { left.words == right.words }
    }

    /// A value that is one byte too large for a node.
    private struct TooLarge: Equatable {
        var largest = Largest()
        var byte: UInt8 = 7
    }

    /// A value with the largest alignment of Swift's types.
    private struct Aligned: Equatable {
        var lanes = SIMD4<UInt64>(1, 2, 3, 4)
    }

    /// A counted value that is boxed because of its size.
    private struct LargeCounted {
        let counted: Counted
        var words = Largest()
    }

    @Test func `a message of up to 48 bytes is held inline, a larger one is boxed`() {
        #expect(Node.holdsInline(Void.self))
        #expect(Node.holdsInline(Largest.self))
        #expect(Node.holdsInline(BlockMessage.self))
        #expect(Node.holdsInline(Aligned.self))
        #expect(!Node.holdsInline(TooLarge.self))
    }

    @Test func `a message comes out as it was put in, inline or boxed`() {
        let node = Node.make()
        defer { PortCore.discard(node) }
        node.store(Largest())
        #expect(node.move(Largest.self) == Largest())
        node.store(TooLarge())
        #expect(node.move(TooLarge.self) == TooLarge())
        node.store(Aligned())
        #expect(node.move(Aligned.self) == Aligned())
        node.store("a string that is too long to be kept in its own sixteen bytes")
        #expect(node.move(String.self).hasPrefix("a string"))
    }

    @Test func `a message does not change the node's link and kind`() {
        let node = Node.make()
        let next = Node.make()
        defer {
            PortCore.discard(node)
            PortCore.discard(next)
        }
        node.kind = .blockInModes
        node.next = next
        node.store(Largest(words: (.max, .max, .max, .max, .max, .max)))
        #expect(node.kind == .blockInModes)
        #expect(node.next == next)
        node.kind = .signal
        node.next = nil
        #expect(node.move(Largest.self) == Largest(words: (.max, .max, .max, .max, .max, .max)))
    }

    @Test func `a node holds its message's references once, inline or boxed`() {
        let alive = Shared(0)
        let node = Node.make()
        defer { PortCore.discard(node) }
        node.store(Counted(alive))
        #expect(alive.count == 1)
        _ = node.move(Counted.self)
        #expect(alive.count == 0)
        node.store(LargeCounted(counted: Counted(alive)))
        #expect(alive.count == 1)
        _ = node.move(LargeCounted.self)
        #expect(alive.count == 0)
    }

    @Test func `reading a small message leaves it in`() {
        let node = Node.make()
        defer { PortCore.discard(node) }
        node.store(7)
        #expect(node.peek(Int.self) == 7)
        #expect(node.move(Int.self) == 7)
    }

    @Test(.enabled(if: Allocations.areCounted))
    func `an inline message allocates nothing, a boxed one its box`() {
        let node = Node.make()
        defer { PortCore.discard(node) }
        let inline = Allocations.count {
            node.store(Largest())
            _ = node.move(Largest.self)
        }
        #expect(inline == 0)
        let boxed = Allocations.count {
            node.store(TooLarge())
            _ = node.move(TooLarge.self)
        }
        #expect(boxed == 1)
    }

    @Test(.enabled(if: Allocations.areCounted)) func `a boxed message leaves no box behind`() async {
        // In a process of its own, in which no other code allocates.
        await #expect(processExitsWith: .success) {
            let node = Node.make()
            let before = Allocations.bytesInUse
            for _ in 0..<10_000 {
                node.store(TooLarge())
                _ = node.move(TooLarge.self)
            }
            #expect(Allocations.bytesInUse - before < 10_000)
        }
    }
}

/// Lists of nodes in the order in which they were sent.
@Suite struct NodeListTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `after any operations a list of nodes equals an array`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let nodes = (0..<60).map { _ in Node.make() }
        defer { for node in nodes { PortCore.discard(node) } }
        var unused = nodes[...]
        var list = NodeList()
        var expected: [Node] = []
        while let node = unused.popFirst() {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                list.prepend(node)
                expected.insert(node, at: 0)
            case 1:
                // A list of up to three nodes.
                let others = unused.prefix(.random(in: 0...3, using: &random))
                unused = unused.dropFirst(others.count)
                var tail = NodeList()
                for other in others { tail.append(other) }
                list.append(tail)
                expected += others
            case 2: #expect(list.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
            default:
                list.append(node)
                expected.append(node)
            }
            #expect(list.count == expected.count)
            #expect(list.isEmpty == expected.isEmpty)
            #expect(list.first == expected.first)
        }
        var all = list.removeAll()
        #expect(list.isEmpty)
        while let node = all.popFirst() { #expect(node == expected.removeFirst()) }
        #expect(expected.isEmpty)
    }
}

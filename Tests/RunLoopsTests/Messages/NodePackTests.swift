import TestSupport
import Testing

@testable import RunLoops

/// Nodes with several messages.
@Suite struct NodePackTests {
    private struct Words<let count: Int>: Sendable {
        var words: InlineArray<count, UInt64>
    }

    /// A reference and padding, so that a node holds two of these.
    private struct Heavy: Sendable {
        let counted: Counted
        let number: Int
        var more = 0
    }

    @Test func `a node holds as many messages as fit`() {
        #expect(Node.capacity(for: Bool.self) == 48)
        #expect(Node.capacity(for: Int.self) == 6)
        #expect(Node.capacity(for: String.self) == 3)
        #expect(Node.capacity(for: Words<3>.self) == 2)
        #expect(Node.capacity(for: Words<4>.self) == 1)
        #expect(Node.capacity(for: Words<6>.self) == 1)
        #expect(Node.capacity(for: Words<7>.self) == 1, "this one needs a box")
    }

    @Test func `any number of packed messages come out once each, in order, and leave ordinary nodes`() {
        expectWhole(48) {
            UInt8($0)
        } _: {
            Int($0)
        }
        expectWhole(6) {
            $0
        } _: {
            $0
        }
        expectWhole(3) {
            "message \($0), too long for a small one"
        } _: {
            Int($0.split(separator: " ")[1].dropLast())
        }
        expectWhole(2) {
            Words<3>(words: [UInt64($0), 1, 2])
        } _: {
            Int($0.words[0])
        }
        expectWhole(1) {
            Words<6>(words: [UInt64($0), 1, 2, 3, 4, 5])
        } _: {
            Int($0.words[0])
        }
        expectWhole(1) {
            Words<7>(words: [UInt64($0), 1, 2, 3, 4, 5, 6])
        } _: {
            Int($0.words[0])
        }
    }

    private func expectWhole<Message>(
        _ capacity: Int, _ make: (Int) -> Message, _ number: (Message) -> Int?
    ) {
        for count in 0...2 * capacity + 1 {
            var messages = (0..<count).lazy.map(make).makeIterator()
            var nodes: [Node] = []
            var room = Int.max
            while let node = Node.packing(&messages, within: &room) { nodes.append(node) }
            #expect(room == .max - count)
            #expect(nodes.count == (count + capacity - 1) / capacity)
            var taken: [Int?] = []
            for node in nodes {
                var left = min(capacity, count - taken.count)
                while left > 0 {
                    let next = node.takeSlot()
                    left -= 1
                    #expect(next.isLast == (left == 0))
                    #expect(next.takesRoom)
                    taken.append(number(next.slot.move(Message.self)))
                }
                #expect(node.mark == .ordinary)
                PortCore.discard(node)
            }
            #expect(taken == Array(0..<count))
        }
    }

    @Test(arguments: 0...14) func `no message is taken that has no room`(room: Int) {
        var messages = (0..<14).makeIterator()
        var left = room
        var nodes: [Node] = []
        while let node = Node.packing(&messages, within: &left) { nodes.append(node) }
        #expect(left == 0)
        let next = messages.next()
        #expect(next == (room < 14 ? room : nil))
        var taken: [Int] = []
        for node in nodes {
            var isLast = false
            while !isLast {
                let next = node.takeSlot()
                isLast = next.isLast
                taken.append(next.slot.move(Int.self))
            }
            PortCore.discard(node)
        }
        #expect(taken == Array(0..<room))
    }

    @Test func `a pack holds each of its messages' references once`() throws {
        let alive = Shared()
        for taken in 0...2 {
            var messages = (0..<2).lazy.map { Heavy(counted: Counted(alive), number: $0) }.makeIterator()
            var room = 2
            let node = try #require(Node.packing(&messages, within: &room))
            for _ in 0..<taken { _ = node.takeSlot().slot.move(Heavy.self) }
            #expect(alive.count == 2 - taken)
            for _ in taken..<2 { _ = node.takeSlot().slot.move(Heavy.self) }
            #expect(alive.count == 0)
            PortCore.discard(node)
        }
    }
}

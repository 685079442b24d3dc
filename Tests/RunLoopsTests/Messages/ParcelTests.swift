import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Values that other modules send to a loop.
@Suite struct ParcelTests {
    private static let mode = RunLoop.Mode("parcels")

    /// A numbered entry for a log, as large as a parcel can be.
    private struct Letter: ~Copyable, Sendable {
        let log: Log<String>
        let number: Int
        let canary: Counted
        var words: InlineArray<9, UInt64> = [1, 2, 3, 4, 5, 6, 7, 8, 9]

        init(_ number: Int, _ log: Log<String>, _ alive: Shared) {
            self.number = number
            self.log = log
            canary = Counted(alive)
        }

        func note(_ hasArrived: Bool) {
            let isWhole = (0..<9).allSatisfy { words[$0] == UInt64($0 + 1) }
            log.add("\(hasArrived ? "" : "lost ")\(number)\(isWhole ? "" : " broken")")
        }
    }

    private static func send(
        _ number: Int, to loop: RunLoop, _ log: Log<String>, _ alive: Shared,
        modes: [RunLoop.Mode]? = nil
    ) -> Bool {
        // Safe: the function moves the letter out of its place.
        unsafe loop.send(Letter(number, log, alive), inModes: modes) { place, hasArrived in
            let letter = unsafe place.assumingMemoryBound(to: Letter.self)
            unsafe letter.pointee.note(hasArrived)
            unsafe letter.deinitialize(count: 1)
        }
    }

    @Test func `the test's parcel has the largest size`() {
        #expect(MemoryLayout<Letter>.size == Parcel.valueCapacity)
        #expect(Node.holdsInline(Parcel.self))
    }

    @Test func `parcels and blocks of one thread arrive in the order in which they were sent`() throws {
        let thread = try RunLoopThread(name: "parcels")
        let log = Log<String>()
        let alive = Shared(0)
        let sender = try BareThread {
            for number in 0..<10_000 {
                if number % 3 == 0 {
                    thread.runLoop.perform { log.add("\(number)") }
                } else {
                    #expect(Self.send(number, to: thread.runLoop, log, alive))
                }
            }
        }
        sender.join()
        try thread.runLoop.performAndWait {}
        #expect(log.entries == (0..<10_000).map { "\($0)" })
        #expect(alive.count == 0)
        thread.stop()
        thread.join()
    }

    @Test func `a parcel waits for its modes and keeps its place`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let alive = Shared(0)
            _ = Self.send(1, to: loop, log, alive, modes: [Self.mode])
            loop.perform(inModes: [Self.mode, .default]) { log.add("block") }
            _ = Self.send(2, to: loop, log, alive, modes: [Self.mode, .default])
            _ = Self.send(3, to: loop, log, alive)
            loop.run()
            #expect(log.entries == ["block", "2", "3"])
            #expect(alive.count == 1)
            _ = Self.send(4, to: loop, log, alive)
            loop.run(mode: Self.mode, before: .now)
            #expect(log.entries == ["block", "2", "3", "1"])
            loop.addCommonMode(Self.mode)
            loop.run(mode: Self.mode, before: .now)
            #expect(log.entries == ["block", "2", "3", "1", "4"])
            #expect(alive.count == 0)
        }
    }

    @Test func `a loop that ends destroys its parcels, in order, and takes no more`() throws {
        let log = Log<String>()
        let alive = Shared(0)
        let loop = try onLoopThread { loop in
            _ = Self.send(1, to: loop, log, alive)
            let other = try BareThread { _ = Self.send(2, to: loop, log, alive, modes: [Self.mode]) }
            other.join()
            return loop
        }
        // The loop refuses new parcels before it destroys the waiting ones.
        waitUntil("the loop ends") { !loop.perform {} && log.entries.count == 2 && alive.count == 0 }
        #expect(!Self.send(3, to: loop, log, alive))
        #expect(log.entries == ["lost 1", "lost 2", "lost 3"])
        #expect(alive.count == 0)
    }

    @Test func `wide nodes and others share slabs, which come back whole`() {
        var slabs = Set<UInt>()
        for round in 0..<500 {
            var releaser = NodeReleaser()
            var wide: [Node] = []
            // At every position of a slab, which has an odd number of nodes.
            for index in 0..<97 {
                if (index + round) % 5 == 0 {
                    let node = SlabCache.takeNode()
                    #expect(node.mark == .ordinary)
                    releaser.release(node)
                }
                wide.append(SlabCache.takeWideNode())
            }
            for node in wide {
                slabs.insert(Slab(containing: unsafe UInt(bitPattern: node.address)).address)
                // Safe: the 128 bytes belong to this test until it releases the node. The mark of the first node is not
                // overwritten.
                unsafe (node.address + Node.payloadOffset).initializeMemory(
                    as: UInt8.self, repeating: 0xff, count: Node.wideStride - Node.payloadOffset)
                releaser.releaseWide(node)
            }
        }
        // A slab that does not come back would be used only once.
        #expect(slabs.count < 100)
    }
}

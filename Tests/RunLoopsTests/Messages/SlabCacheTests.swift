import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The allocation and the release of nodes.
@Suite struct SlabCacheTests {
    @Test func `nodes are whole cache lines, and no two that are in use are one`() {
        let nodes = (0..<1_000).map { _ in SlabCache.takeNode() }
        defer { release(nodes) }
        var addresses = Set<UInt>()
        for node in nodes {
            let address = unsafe UInt(bitPattern: node.address)
            #expect(address % 64 == 0)
            #expect(address % 4096 != 0, "a slab begins with its header")
            addresses.insert(address)
        }
        #expect(addresses.count == 1_000)
    }

    @Test func `all bytes of a node but its mark belong to its owner`() {
        let nodes = (0..<200).map { _ in SlabCache.takeNode() }
        defer { release(nodes) }
        let offsets = (0..<Node.stride).filter { $0 != Node.markOffset }
        for (index, node) in nodes.enumerated() {
            for offset in offsets {
                // Safe: the 64 bytes belong to this test until it releases the node.
                unsafe node.address.storeBytes(of: UInt8(index), toByteOffset: offset, as: UInt8.self)
            }
        }
        for (index, node) in nodes.enumerated() {
            // Safe: the bytes were written above.
            let bytes = unsafe UnsafeRawBufferPointer(start: node.address, count: Node.stride)
            let isKept = offsets.allSatisfy { unsafe bytes[$0] == UInt8(index) }
            #expect(isKept)
            #expect(node.mark == .ordinary)
        }
    }

    @Test(.enabled(if: Allocations.areCounted))
    func `in steady state, taking and releasing allocates nothing`() throws {
        // In a new thread, whose slabs no other thread has.
        try onLoopThread { _ in
            func round() { release(takeNodes(1_000)) }
            for _ in 0..<3 { round() }
            #expect(Allocations.count { for _ in 0..<10 { round() } } == 0)
        }
    }

    @Test(.enabled(if: Allocations.areCounted))
    func `a queue of steady length allocates nothing, however long it is`() throws {
        try onLoopThread { _ in
            var queue = takeNodes(20_000)
            func round() {
                for _ in 0..<1_000 { queue.append(SlabCache.takeNode()) }
                var releaser = NodeReleaser()
                for _ in 0..<1_000 { if let node = queue.popFirst() { releaser.release(node) } }
            }
            for _ in 0..<3 { round() }
            #expect(Allocations.count { for _ in 0..<50 { round() } } == 0)
            release(queue)
        }
    }

    @Test(.enabled(if: Allocations.areCounted))
    func `nodes that another thread releases come back to their own`() throws {
        try onLoopThread { _ in
            let other = try RunLoopThread(name: "receiver")
            for round in 0..<6 {
                var nodes = NodeList()
                let slabs = Allocations.count { nodes = takeNodes(1_000) }
                if round == 0 { #expect(slabs >= 16) }
                if round > 2 { #expect(slabs == 0) }
                let taken = nodes
                try other.runLoop.performAndWait { release(taken) }
            }
            other.stop()
            other.join()
        }
    }

    @Test func `nodes outlive the thread that made them`() throws {
        let nodes = Log<Node>()
        let thread = try RunLoopThread(name: "maker")
        try thread.runLoop.performAndWait {
            for number in 0..<200 {
                let node = SlabCache.takeNode()
                node.store(number)
                nodes.add(node)
            }
        }
        thread.stop()
        thread.join()
        for (number, node) in nodes.entries.enumerated() { #expect(node.move(Int.self) == number) }
        release(nodes.entries)
    }

    @Test func `a port's messages outlive the thread that sent them`() throws {
        let port = Port<Int>()
        try Threads(1) { _ in for number in 0..<500 { try port.send(number) } }.join()
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            while received.count < 500 { loop.pass() }
            #expect(received == Array(0..<500))
        }
    }

    @Test(.enabled(if: Allocations.areCounted)) func `after a burst, all but a few slabs go back`() async {
        // In a process of its own, in which no other code allocates.
        await #expect(processExitsWith: .success) {
            release(takeNodes(100))
            let before = Allocations.bytesInUse
            let nodes = takeNodes(100_000)
            #expect(Allocations.bytesInUse - before > 6_400_000)
            release(nodes)
            // malloc can use up to twice the size of a slab.
            #expect(Allocations.bytesInUse - before <= 2 * SlabCache.spareLimit * 4096)
        }
    }

    @Test(.enabled(if: Allocations.areCounted)) func `a joined thread has no slabs any more`()
        async
    {
        await #expect(processExitsWith: .success) {
            let linger = Gate()
            let lingers = Shared()
            // Created before the package's key, so that the thread waits here before the package's destructor has run.
            let key = keyWithDestructor()
            let before = try burst(key, lingers, linger, count: 0)
            let after = try burst(key, lingers, linger, count: 10_000)
            #expect(lingers.count == 2)
            linger.open()
            // Ten thousand nodes use 630 KiB.
            #expect(after - before < 100_000)
        }
    }

    @Test(.enabled(if: Allocations.areCounted)) func `a thread that ends leaves no slab behind`() async {
        await #expect(processExitsWith: .success) {
            let port = Port<Int>(queueLimit: .unlimited)
            func round() throws {
                let sender = try RunLoopThread(name: "sender")
                try sender.runLoop.performAndWait { try port.send(contentsOf: 0..<1_000) }
                sender.stop()
                sender.join()
                // These nodes are released after their thread's end. The others never left the thread.
                release(port.core.queue.mailbox.take())
            }
            for _ in 0..<20 { try round() }
            let before = Allocations.bytesInUse
            for _ in 0..<100 { try round() }
            // A leak of the one slab in each round that its thread did not fill would be 400 KiB.
            #expect(Allocations.bytesInUse - before < 100_000)
        }
    }
}

private func release(_ nodes: [Node]) {
    var releaser = NodeReleaser()
    for node in nodes { releaser.release(node) }
}

private func takeNodes(_ count: Int) -> NodeList {
    var list = NodeList()
    for _ in 0..<count { list.append(SlabCache.takeNode()) }
    return list
}

private func release(_ list: NodeList) {
    var nodes = list
    var releaser = NodeReleaser()
    while let node = nodes.popFirst() { releaser.release(node) }
}

/// Keeps a thread in the destructor of its key: counts the call, and waits for the gate.
private final class Lingering: Sendable {
    let begins: Shared
    let ends: Gate

    init(_ begins: Shared, _ ends: Gate) {
        self.begins = begins
        self.ends = ends
    }
}

/// Makes a key whose destructor waits.
private func keyWithDestructor() -> pthread_key_t {
    var key = pthread_key_t()
    // Safe: the key is a local variable, and each value is a reference that the destructor takes back.
    unsafe pthread_key_create(&key) { value in
        guard let value = unsafe value else { return }
        let lingering = unsafe Unmanaged<Lingering>.fromOpaque(value).takeRetainedValue()
        lingering.begins.increment()
        _ = lingering.ends.wait()
    }
    return key
}

/// Has a thread take and release nodes, and end, and joins it while it is still in the destructor of its key.
///
/// - Returns: The number of bytes in use at that time.
private func burst(_ key: pthread_key_t, _ begins: Shared, _ ends: Gate, count: Int) throws -> Int {
    let thread = try RunLoopThread(name: "burst")
    try thread.runLoop.performAndWait {
        // Safe: the destructor takes the reference back.
        unsafe pthread_setspecific(key, Unmanaged.passRetained(Lingering(begins, ends)).toOpaque())
        var nodes = takeNodes(count)
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() { releaser.release(node) }
    }
    thread.stop()
    thread.join()
    // The thread is in the destructor, or about to enter it: it has no other work left.
    while begins.count < (count == 0 ? 1 : 2) { sched_yield() }
    return Allocations.bytesInUse
}

import TestSupport
import Testing

@testable import RunLoops

/// Threads use and destroy send-once rights while the receiver serves the port.
@Suite struct SendOnceStressTests {
    // Guarantees: Each send-once right sends exactly one message: when it is used, or when it is destroyed unused.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `whatever threads do with their rights, each is heard of once`(seed: UInt64) throws {
        let alive = Shared()
        let port = Port<Counted>(queueLimit: 4)
        let perThread = 250
        let receiver = try Threads(1) { _ in
            let loop = RunLoop.current
            var received = 0
            loop.add(port, forMode: .default) { _ in
                received += 1
                if received == 4 * perThread { loop.stop() }
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(received == 4 * perThread)
        }
        let senders = try Threads(4) { thread in
            var random = SplitMix64(seed: seed * 4 + UInt64(thread))
            for _ in 0..<perThread {
                let right = port.makeSendOnceRight(ifUnused: Counted(alive))
                if Bool.random(using: &random) { try right.send(Counted(alive)) }
            }
        }
        try senders.join()
        try receiver.join()
        port.invalidate()
        #expect(alive.count == 0)
        #expect(port.sendOnceRightCount == 0)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a port that ends while rights are used leaves nothing behind`(seed: UInt64) throws {
        let alive = Shared()
        let port = Port<Counted>(queueLimit: .unlimited)
        let perThread = 200
        let heard = Shared()
        let refused = Shared()
        let halfway = Gate()
        let receiver = try Threads(1) { _ in
            let loop = RunLoop.current
            loop.add(port, forMode: .default) { _ in heard.increment() }
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
        let senders = try Threads(4) { thread in
            var random = SplitMix64(seed: seed * 4 + UInt64(thread))
            for number in 0..<perThread {
                if thread == 0 && number == perThread / 2 { halfway.open() }
                let right = port.makeSendOnceRight(ifUnused: Counted(alive))
                if Bool.random(using: &random) {
                    do { try right.send(Counted(alive)) } catch { refused.increment() }
                }
            }
        }
        #expect(halfway.wait())
        port.invalidate()
        try senders.join()
        try receiver.join()
        #expect(alive.count == 0)
        #expect(heard.count + refused.count <= 4 * perThread)
        #expect(port.sendOnceRightCount == 0)
    }
}

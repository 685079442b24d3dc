import Glibc
import NIOConcurrencyHelpers
import NIOCore
import RunLoops
import RunLoopsNIO
import Testing

/// What peers, and writes without an end, can make a channel of datagrams hold and do.
struct DatagramChannelBoundTests {
    @Test func `while no channel has a turn, few datagrams are in memory, and the kernel has the rest`()
        throws
    {
        let loop = try LoopThread()
        var ends: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let (peer, log, sent) = (ends[1], Log(), NIOLockedValueBox(0))
        _ = try bootstrap(loop) { try $0.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)]) }
            .withBoundSocket(OwnedDescriptor(ends[0])).wait()
        let running = Reacting(read: { _, _ in
            runLoop(in: .default) {
                // Until the socket has taken nothing in some passes of the loop.
                var isTaken = true
                while isTaken && sent.withLockedValue({ $0 }) < 5_000 {
                    isTaken = false
                    while sent.withLockedValue({ $0 }) < 5_000 && write(peer, "x", 1) == 1 {
                        isTaken = true
                        sent.withLockedValue { $0 += 1 }
                    }
                    for _ in 0..<3 {
                        let isServed = Place<Bool>()
                        loop.runLoop.perform(inModes: [.default]) { isServed.put(true) }
                        _ = isServed.get()
                    }
                }
            }
        })
        let other = try bound(loop) { try $0.pipeline.syncOperations.addHandlers([Opener(), running]) }
        try bound(loop).writeAndFlush(envelope("run", to: other)).wait()
        // The kernel's own queue has some hundred.
        log.wait(for: "read:x")
        let count = sent.withLockedValue { $0 }
        #expect(count < 5_000)
        log.wait(for: "read:x", times: count)
        close(peer)
        loop.end()
    }

    @Test func `other channels have their turns while one sends many datagrams`() throws {
        let loop = try LoopThread()
        let log = Log()
        let (first, second) = (try bound(loop), try bound(loop))
        let receiving = try LoopThread()
        let peer = try bound(receiving)
        try first.eventLoop.submit {
            for _ in 0..<5_000 { first.write(envelope("x", to: peer), promise: nil) }
            log.note("many", first.write(envelope("x", to: peer)))
            log.note("one", second.write(envelope("x", to: peer)))
            first.flush()
            second.flush()
        }.wait()
        log.wait(for: "many:ok")
        #expect(log.text == "one:ok many:ok")
        receiving.end()
        loop.end()
    }
}

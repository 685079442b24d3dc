import FoundationEssentials
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// In any order of actions at both ends, no byte is lost or duplicated, and the end is reported once and last.
///
/// `RUNLOOPS_STRESS_ORDERS` sets the number of orders.
@Suite struct ConnectionOrderTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_ORDERS"].flatMap { UInt64($0) } ?? 100

    /// A connection that makes random calls in its handlers, and checks the calls of the handlers.
    private final class Actor {
        let pair: Pair
        var random: SplitMix64
        var received: [UInt8] = []
        var written: [UInt8] = []
        var isCalling = false
        var ends = 0
        var mayClose = false

        init(_ pair: Pair, seed: UInt64) {
            self.pair = pair
            random = SplitMix64(seed: seed)
        }

        func start(_ loop: RunLoop) throws {
            let connection = pair.connection
            connection.onReceive { [self] connection, bytes in
                call {
                    let count = Int.random(in: 0...bytes.byteCount, using: &random)
                    unsafe bytes.withUnsafeBytes { unsafe received += $0.prefix(count) }
                    act(loop)
                    return count
                }
            }
            connection.onInputEnd { [self] _ in call { act(loop) } }
            connection.onDrained { [self] _ in call { act(loop) } }
            connection.onEnd { [self] connection, _ in
                #expect(!isCalling, "no handler is called inside another")
                #expect(!connection.isOpen)
                ends += 1
            }
            try loop.add(connection, forMode: .default)
        }

        private func call<Result>(_ body: () -> Result) -> Result {
            #expect(!isCalling, "no handler is called inside another")
            #expect(ends == 0, "no handler is called after the end")
            isCalling = true
            defer { isCalling = false }
            return body()
        }

        /// Makes a random call that is allowed in a handler.
        func act(_ loop: RunLoop) {
            let connection = pair.connection
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                let isOpen = connection.isOpen
                let bytes = (0..<Int.random(in: 0...3000, using: &random)).map {
                    UInt8(truncatingIfNeeded: $0)
                }
                let before = connection.sentByteCount + connection.unsentByteCount
                connection.write(bytes)
                if isOpen && connection.sentByteCount + connection.unsentByteCount == before + bytes.count {
                    written += bytes
                }
            case 3: connection.isReadingPaused = true
            case 4...6: connection.isReadingPaused = false
            case 7: loop.pass()
            case 8: if mayClose { connection.endOutput() }
            case 9: if mayClose { connection.closeAfterWriting() }
            case 10: if mayClose && Int.random(in: 0..<3, using: &random) == 0 { connection.close() }
            default: break
            }
        }
    }

    // Guarantees: The end of a connection is reported once, and last, whatever both sides and the handlers do.
    // Guarantees: No handler of a connection is called inside another handler of the same connection, even if a handler runs the
    // loop.
    // Guarantees: Each byte is given to the handlers once and in order, and each byte that was written is sent once and in order,
    // until the connection ends.
    @Test(arguments: 0..<seeds) func `whatever both ends do, each byte comes once and the end comes last`(
        seed: UInt64
    ) throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            var options = Connection.Options()
            options.highWaterMark = 4000
            options.lingerTimeout = .milliseconds(1)
            let actor = Actor(try Pair(options), seed: seed &* 31 &+ 7)
            try actor.start(loop)
            var sent: [UInt8] = []
            var read: [UInt8] = []
            var hasEndedSending = false
            for step in 0..<200 {
                actor.mayClose = step > 150
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !hasEndedSending, 1 where !hasEndedSending:
                    let bytes = (0..<Int.random(in: 1...2000, using: &random)).map { _ in
                        UInt8.random(in: 0...255, using: &random)
                    }
                    let count = (try? Loopback.write(bytes, to: actor.pair.peer)) ?? 0
                    sent += bytes.prefix(count)
                case 2: if let bytes = try? Loopback.read(actor.pair.peer, atMost: 5000) { read += bytes }
                case 3 where step > 170:
                    hasEndedSending = true
                    actor.pair.endSending()
                case 4: actor.act(loop)
                default: loop.pass()
                }
            }
            // Both ends finish the connection.
            actor.mayClose = false
            if !hasEndedSending { actor.pair.endSending() }
            let deadline = ContinuousClock.Instant.hang
            while actor.ends == 0 {
                actor.pair.connection.isReadingPaused = false
                if actor.pair.connection.isOpen { actor.pair.connection.endOutput() }
                if let bytes = try? Loopback.read(actor.pair.peer, atMost: 1 << 20) { read += bytes }
                loop.run(until: .now + .milliseconds(1))
                try #require(ContinuousClock.now < deadline)
            }
            while let bytes = try? Loopback.read(actor.pair.peer, atMost: 1 << 20), !bytes.isEmpty {
                read += bytes
            }
            #expect(actor.ends == 1)
            #expect(actor.received == Array(sent.prefix(actor.received.count)))
            #expect(read == Array(actor.written.prefix(read.count)))
            #expect(read.count == actor.pair.connection.sentByteCount)
            for _ in 0..<3 { loop.pass() }
            #expect(actor.ends == 1)
        }
    }
}

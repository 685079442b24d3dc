import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Eight senders with deadlines at a full port: each is served in turn, gives up with its message, or is woken by the port's end.
@Suite struct PortFullTests {
    /// The outcome of a sender.
    private enum Outcome: Hashable, Sendable {
        case sent
        case gaveUp
        case released
    }

    /// The senders of a round, in the order in which they joined the line.
    private final class Line: Sendable {
        let port: Port<Int>
        let outcomes = Guarded<[Int: Outcome]>([:])
        private let threads = Guarded<[Threads]>([])

        init(limit: Int, _ deadlines: [ContinuousClock.Instant?]) throws {
            port = Port(queueLimit: PortQueueLimit(limit))
            try port.send(contentsOf: (0..<limit).map { -1 - $0 })
            for (number, deadline) in deadlines.enumerated() {
                let thread = try Threads(1) { [self] _ in
                    let outcome = send(number, before: deadline)
                    outcomes.withLock { $0[number] = outcome }
                }
                threads.withLock { $0.append(thread) }
                waitUntil("the next one is in line, or has given up already") {
                    // In this order, a sender that leaves the line between the two loads is counted at most once.
                    outcomes.withLock { $0.count } + waitingSenders(at: port) == number + 1
                }
            }
        }

        private func send(_ number: Int, before deadline: ContinuousClock.Instant?) -> Outcome {
            do throws(PortSendError<Int>) {
                if let deadline { try port.send(number, before: deadline) } else { try port.send(number) }
                return .sent
            } catch {
                #expect(error.messages == [number])
                switch error.reason {
                case .timedOut:
                    #expect(deadline.map { ContinuousClock.now >= $0 } == true)
                    return .gaveUp
                case .invalid: return .released
                default:
                    Issue.record(error, "nobody waits for these")
                    return .released
                }
            }
        }

        func join() throws { for thread in threads.withLock({ $0 }) { try thread.join() } }

        func numbers(_ outcome: Outcome) -> [Int] {
            outcomes.withLock { $0.filter { $0.value == outcome }.keys.sorted() }
        }
    }

    private func deadlines(_ random: inout SplitMix64) -> [ContinuousClock.Instant?] {
        (0..<8).map { _ in
            switch Int.random(in: 0..<3, using: &random) {
            case 0: nil
            case 1: .hang
            default: .now + .microseconds(Int.random(in: 0..<3_000, using: &random))
            }
        }
    }

    @Test(arguments: 0..<40) func `all are served in turn, or give up with their message, and none is lost`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...3, using: &random)
        let line = try Line(limit: limit, deadlines(&random))
        let pause = Duration.microseconds(Int.random(in: 0..<1_000, using: &random))
        let received = try onLoopThread { loop in
            var received: [Int] = []
            loop.add(line.port, forMode: .default) { number in
                received.append(number)
                // Some deadlines pass while other senders are served.
                let end = ContinuousClock.now + pause
                while ContinuousClock.now < end {}
            }
            while waitingSenders(at: line.port) > 0 { loop.pass() }
            try line.join()
            loop.settle()
            return received
        }
        #expect(Array(received.prefix(limit)) == (0..<limit).map { -1 - $0 })
        // The messages of exactly the senders whose send returned, in turn, once each.
        #expect(Array(received.dropFirst(limit)) == line.numbers(.sent))
        #expect(line.numbers(.sent).count + line.numbers(.gaveUp).count == 8)
    }

    @Test(arguments: 0..<40) func `the port's end wakes all waiting senders, which keep their messages`(
        seed: UInt64
    )
        throws
    {
        var random = SplitMix64(seed: seed &+ 500)
        let limit = Int.random(in: 1...3, using: &random)
        let line = try Line(limit: limit, deadlines(&random))
        let last = Int.random(in: 0..<6, using: &random)
        let received = try onLoopThread { loop in
            var received: [Int] = []
            loop.add(line.port, forMode: .default) { number in
                received.append(number)
                if received.count > last { line.port.invalidate() }
            }
            if last == 0 { line.port.invalidate() }
            while line.port.isValid && received.count <= last && waitingSenders(at: line.port) > 0 {
                loop.pass()
            }
            line.port.invalidate()
            try line.join()
            return received
        }
        let sent = line.numbers(.sent)
        // Messages that were accepted and not received were destroyed with the port. Their number is at most the port's limit.
        let arrived = received.filter { $0 >= 0 }
        #expect(arrived == Array(sent.prefix(arrived.count)))
        #expect(sent.count - arrived.count <= limit)
        #expect(sent.count + line.numbers(.gaveUp).count + line.numbers(.released).count == 8)
        #expect(waitingSenders(at: line.port) == 0)
    }
}

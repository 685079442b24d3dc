import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// Many messages from many threads through one loop: each arrives once, in the order of its sender.
///
/// The environment variable RUNLOOPS_STRESS_MESSAGES sets their number, up to 100,000,000.
@Suite struct MessageStressTests {
    @Test(arguments: [1, 2, 4, 8]) func `through ports, everything arrives once and in order`(senders: Int)
        throws
    {
        try onLoopThread { loop in
            let count = messageCount(for: senders)
            let checks = Checks(senders, count)
            let port = Port<Message>()
            loop.add(port, forMode: .default) { message in
                if checks.receive(message) { loop.stop() }
            }
            let threads = try Threads(senders) { sender in
                var number = 0
                while number < count {
                    // From time to time a batch, whose length is below, at or above the port's limit.
                    if number % 10_000 == 5_000 {
                        let length = min(number / 7 % 3_000, count - number)
                        try port.send(
                            contentsOf: (number..<number + length).lazy.map {
                                Message(sender: sender, number: $0)
                            })
                        number += length
                        if length > 0 { continue }
                    }
                    try port.send(Message(sender: sender, number: number))
                    number += 1
                }
            }
            loop.run(in: .default)
            try threads.join(seconds: 600)
            checks.expectAll()
        }
    }

    @Test(arguments: [1, 2, 4, 8])
    func `through performed blocks and ports at once, everything arrives once and in order`(senders: Int)
        throws
    {
        try onLoopThread { loop in
            let count = messageCount(for: senders) / 2
            let checks = Checks(2 * senders, count)
            let port = Port<Message>(queueLimit: 64)
            loop.add(port, forMode: .default) { message in
                if checks.receive(message) { loop.stop() }
            }
            // Safe: only the loop's thread uses the checks, like the handler above. The blocks that use them must be sendable.
            nonisolated(unsafe) let confined = checks
            let threads = try Threads(senders) { sender in
                for number in 0..<count {
                    try port.send(Message(sender: sender, number: number))
                    let message = Message(sender: senders + sender, number: number)
                    loop.perform { if unsafe confined.receive(message) { RunLoop.current.stop() } }
                }
            }
            loop.run(in: .default)
            try threads.join(seconds: 600)
            checks.expectAll()
        }
    }

    private func messageCount(for senders: Int) -> Int {
        // Safe: the environment does not change while tests run.
        let given = unsafe getenv("RUNLOOPS_STRESS_MESSAGES").flatMap { unsafe Int(String(cString: $0)) }
        return min(given ?? 200_000, 100_000_000) / senders
    }

    private struct Message: Sendable {
        let sender: Int
        let number: Int
    }

    /// The message that the receiver expects next from each sender; used on the receiver's thread only.
    private final class Checks {
        private var next: [Int]
        private let count: Int
        private var unfinished: Int
        private var outOfOrder = 0

        init(_ senders: Int, _ count: Int) {
            next = [Int](repeating: 0, count: senders)
            self.count = count
            unfinished = senders
        }

        /// Checks a message.
        ///
        /// - Returns: True if this was the last message of all.
        func receive(_ message: Message) -> Bool {
            // A missing or duplicate message is out of order, too.
            if message.number != next[message.sender] { outOfOrder += 1 }
            next[message.sender] = message.number + 1
            if message.number == count - 1 { unfinished -= 1 }
            return unfinished == 0
        }

        func expectAll() {
            #expect(outOfOrder == 0)
            #expect(next.allSatisfy { $0 == count })
        }
    }
}

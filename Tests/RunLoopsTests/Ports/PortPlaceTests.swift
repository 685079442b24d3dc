import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A port keeps its queue when it leaves its loop, returns, or changes modes, and while no loop runs.
@Suite struct PortPlaceTests {
    @Test func `messages survive the removal from a loop and the return to it`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received: [Int] = []
            for round in 0..<5 {
                try port.send(contentsOf: round * 10..<round * 10 + 5)
                loop.add(port, forMode: .default) { number in
                    received.append(number)
                    // The loop has already received the other messages.
                    if number % 10 == 1 { loop.remove(port, forMode: .default) }
                }
                try port.send(contentsOf: round * 10 + 5..<round * 10 + 10)
                while loop.run(in: .default, until: .distantPast) != .finished {}
                #expect(loop.run(in: .default) == .finished)
            }
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            #expect(received == Array(0..<50))
        }
    }

    @Test
    func
        `a signal is seen that was sent while the port was in no loop, in no mode that runs, or between runs`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Void>()
            let other = RunLoop.Mode("other")
            var seen = 0
            try port.send()
            loop.add(port, forMode: .default) { seen += 1 }
            loop.settle()
            #expect(seen == 1)
            try port.send()
            loop.settle()
            #expect(seen == 2)
            loop.remove(port, forMode: .default)
            try port.send()
            loop.add(port, forMode: other) { seen += 1 }
            loop.settle()
            #expect(seen == 2)
            loop.settle(in: other)
            #expect(seen == 3)
            try port.send()
            loop.remove(port, forMode: other)
            loop.add(port, forMode: .common) { seen += 1 }
            loop.settle()
            #expect(seen == 4)
        }
    }

    // Guarantees: A message that was accepted is delivered, unless the port ends first.
    @Test(arguments: 0..<60) func `each message arrives once and in order, through any loops and sets`(
        seed: UInt64
    )
        throws
    {
        let port = Port<Int>(queueLimit: .unlimited)
        let received = Log<Int>()
        let sent = Shared()
        // Several loops have the port, one after another.
        for stay in 0..<4 as Range<UInt64> {
            try onLoopThread { loop in
                var random = SplitMix64(seed: seed &* 10 &+ stay)
                let modes = [RunLoop.Mode.default, RunLoop.Mode("one"), RunLoop.Mode("two")]
                for _ in 0..<60 {
                    let mode = modes[Int.random(in: 0..<3, using: &random)]
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0..<3:
                        for _ in 0..<Int.random(in: 1...6, using: &random) { try port.send(sent.increment()) }
                    case 3, 4:
                        let leaves = Bool.random(using: &random)
                        loop.add(port, forMode: mode) { number in
                            received.add(number)
                            if leaves { loop.remove(port, forMode: mode) }
                        }
                    case 5: loop.remove(port, forMode: mode)
                    default: loop.pass(in: mode)
                    }
                }
                for mode in modes { loop.remove(port, forMode: mode) }
            }
        }
        try onLoopThread { loop in
            loop.add(port, forMode: .default) { received.add($0) }
            loop.settle()
        }
        #expect(received.entries == Array(0..<sent.count))
    }
}

import RunLoops
import RunLoopsTesting
import TestExpectations
import TestSupport
import Testing

/// The code of the articles and of the landing page.
@Suite struct TestingSnippets {
    /// A session that closes after a time without use.
    private final class Session {
        private(set) var isOpen = true

        init() {
            Timer.scheduledTimer(withTimeInterval: .seconds(30 * 60), repeats: false) { [unowned self] _ in
                isOpen = false
            }
        }
    }

    @Test func `a session that is not used for half an hour is closed`() throws {
        try RunLoopSimulation.run { simulation in
            let session = Session()
            simulation.advance(by: .seconds(29 * 60))
            #expect(session.isOpen)
            simulation.advance(by: .seconds(60))
            #expect(!session.isOpen)
        }
    }

    @Test func `attempts are made later and later`() throws {
        try RunLoopSimulation.run { simulation in
            var attempts: [Duration] = []
            let start = simulation.now
            func connect(retryAfter delay: Duration) {
                attempts.append(start.duration(to: simulation.now))
                Timer.scheduledTimer(withTimeInterval: delay, repeats: false) { _ in
                    connect(retryAfter: delay * 2)
                }
            }
            connect(retryAfter: .seconds(1))
            simulation.advance(by: .seconds(10))
            #expect(attempts == [.zero, .seconds(1), .seconds(3), .seconds(7)])
        }
    }

    @Test func `a date is computed from the time that the thread sees`() throws {
        func waitForReply(on loop: RunLoop) -> Bool {
            loop.run(mode: .default, before: RunLoop.now + .seconds(30))
        }
        try RunLoopSimulation.run { simulation in
            let start = simulation.now
            let loop = RunLoop.current
            let source = ManualSource {}
            loop.add(source, forMode: .default)
            #expect(waitForReply(on: loop))
            #expect(simulation.now == start + .seconds(30))
        }
    }

    @Test func `a timer follows the wall clock that a test sets`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.setWallClock(timeSince1970: .seconds(1_800_000_000))
            var fires = 0
            let timer = WallClockTimer(fireAt: RunLoop.timeSince1970 + .seconds(60)) { _ in fires += 1 }
            try RunLoop.current.add(timer, forMode: .default)
            // The clock was a day fast.
            simulation.setWallClock(timeSince1970: .seconds(1_800_000_000 - 86_400))
            simulation.advance(by: .seconds(86_400))
            #expect(fires == 0)
            simulation.advance(by: .seconds(60))
            #expect(fires == 1)
        }
    }

    /// An account that only one thread uses.
    private final class Account: Sendable {
        private let thread: RunLoopThread
        private let total = Shared()

        init() throws { thread = try RunLoopThread(name: "account") }

        func deposit(_ amount: Int) { thread.runLoop.perform { [total] in total.increment() } }

        var balance: Int { total.count }
    }

    @Test(arguments: 0..<100) func `no deposit is lost`(seed: UInt64) throws {
        try RunLoopSimulation.run(seed: seed) { simulation in
            let account = try Account()
            for name in ["first", "second"] {
                let customer = try RunLoopThread(name: name)
                customer.runLoop.perform { account.deposit(1) }
            }
            simulation.settle()
            #expect(account.balance == 2)
        }
    }
}

#if DEBUG
    import Synchronization
    import TestExpectations
    import TestSupport

    @testable import RunLoops

    /// A loop and some threads that send to it, with records of the sent and the received messages.
    final class ScheduledRound: Sendable {
        /// For each sender, the numbers of accepted and of served blocks and messages.
        struct Account {
            var blocksTaken: [Int]
            var blocksRun: [Int]
            var messagesTaken: [Int]
            var messagesReceived: [Int]
            var failures: [String] = []
        }

        let seed: UInt64
        let senderCount: Int
        /// True if the loop's thread ends while others send, false if the loop runs until all senders are done.
        let endsEarly: Bool
        /// True if the ports leave the loop and return between two runs, and when the source is signalled.
        private let movesPorts: Bool
        private let port: Port<Int>
        private let bell = Port<Void>()
        private let account: Guarded<Account>
        private let signalled = Shared()
        private let signalsSeen = Shared()
        private let rung = Shared()
        private let ringsSeen = Shared()
        private let done = Shared()
        private let alive = Shared()

        /// The deadline after which a message counts as lost.
        private static var patience: ContinuousClock.Instant { .now + .seconds(100) }

        init(seed: UInt64) {
            self.seed = seed
            var random = SplitMix64(seed: seed)
            senderCount = .random(in: 2...4, using: &random)
            endsEarly = .random(using: &random)
            port = Port(queueLimit: .random(using: &random) ? .unlimited : 2)
            movesPorts = .random(using: &random)
            let none = Array(repeating: 0, count: senderCount)
            account = Guarded(
                Account(blocksTaken: none, blocksRun: none, messagesTaken: none, messagesReceived: none))
        }

        // MARK: - The loop's thread

        /// The loop and its inputs.
        struct Stage: Sendable {
            let loop: RunLoop
            let source: ManualSource
        }

        func prepare() -> Stage {
            let loop = RunLoop.current
            let policies = [RunLoop.WaitPolicy.park, .spin(for: .microseconds(20)), .adaptive]
            loop.waitPolicy = policies[Int(seed / 4 % 3)]
            let source = ManualSource { [unowned self] in
                signalsSeen.value.store(signalled.count, ordering: .relaxed)
                if movesPorts { moveOut(.current) }
            }
            loop.add(source, forMode: .default)
            addPorts(to: loop)
            return Stage(loop: loop, source: source)
        }

        private func addPorts(to loop: RunLoop) {
            loop.add(port, forMode: .default) { [unowned self] in receive($0) }
            loop.add(bell, forMode: .default) { [rung, ringsSeen] in
                ringsSeen.value.store(rung.count, ordering: .relaxed)
            }
            bell.onNoSenders { _ in }
        }

        /// Removes the ports from the loop and adds them again, while other threads send to them.
        private func moveOut(_ loop: RunLoop) {
            loop.remove(port, forMode: .default)
            loop.remove(bell, forMode: .default)
            addPorts(to: loop)
        }

        /// Runs the loop to its end.
        func run(_ stage: Stage) {
            let loop = stage.loop
            // Each sender reports that it is done before it sends its last stop. So the last of these stops ends the last run.
            while !endsEarly || !wasEnded(loop) {
                if movesPorts { moveOut(loop) }
                let result = loop.run(in: .default, until: Self.patience)
                if result == .timedOut { fail("a stop was lost") }
                if result == .timedOut || done.count == senderCount { break }
            }
            if !endsEarly { settle(loop) }
            RunLoop.endCurrent()
        }

        private func wasEnded(_ loop: RunLoop) -> Bool {
            loop.coreIfCurrent?.runs.requests.contains(.end) == true
        }

        private func settle(_ loop: RunLoop) {
            var passes = 0
            while passes < 1_000 && !isComplete {
                loop.pass()
                passes += 1
            }
        }

        private var isComplete: Bool {
            account.withLock { $0.blocksTaken == $0.blocksRun && $0.messagesTaken == $0.messagesReceived }
                && signalled.count == signalsSeen.count && rung.count == ringsSeen.count
        }

        /// Returns the failures, after the end of the loop and of all senders.
        func failures() -> [String] {
            if !endsEarly && !isComplete {
                fail(
                    "something was lost: signals \(signalsSeen.count) of \(signalled.count), rings \(ringsSeen.count) of \(rung.count)"
                )
            }
            let left = port.core.takeMail()
            return account.withLock { account in
                if account.messagesTaken.reduce(0, +) != account.messagesReceived.reduce(0, +) + left {
                    account.failures.append("a message was lost or doubled")
                }
                if alive.count != 0 { account.failures.append("a block was not destroyed") }
                return account.failures.isEmpty ? [] : account.failures + ["\(account)"]
            }
        }

        // MARK: - A sender's thread

        func send(as sender: Int, to stage: Stage) {
            var random = SplitMix64(seed: seed &+ UInt64(sender + 1) &* 1_000_003)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                switch Int.random(in: 0..<12, using: &random) {
                case 0...1: perform(sender, stage.loop)
                case 2: performTwo(sender, stage.loop)
                case 3...4: sendMessage(sender)
                case 5, 10, 11: ring()
                // The release of the last right causes a notice and a nudge.
                case 6: _ = bell.makeSendRight()
                case 7:
                    signalled.increment()
                    stage.source.signal()
                case 8: if .random(using: &random) { stage.loop.wakeUp() } else { stage.loop.stop() }
                default: performAndWait(sender, stage.loop)
                }
            }
            done.increment()
            if endsEarly { stage.loop.handle.request(.end) } else { stage.loop.stop() }
        }

        private func perform(_ sender: Int, _ loop: RunLoop) {
            let number = nextBlock(sender)
            let isTaken = loop.perform { [canary = Counted(alive)] in
                self.ran(sender, number)
                withExtendedLifetime(canary) {}
            }
            if !isTaken { refused(sender, 1) }
        }

        private func performTwo(_ sender: Int, _ loop: RunLoop) {
            let blocks: [@Sendable () -> Void] = (0..<2).map { _ in
                let number = nextBlock(sender)
                return { [canary = Counted(alive)] in
                    self.ran(sender, number)
                    withExtendedLifetime(canary) {}
                }
            }
            if !loop.perform(contentsOf: blocks) { refused(sender, 2) }
        }

        private func performAndWait(_ sender: Int, _ loop: RunLoop) {
            let number = nextBlock(sender)
            do {
                try loop.performAndWait(before: Self.patience) { self.ran(sender, number) }
            } catch PerformError.Reason.loopEnded where endsEarly {
                refused(sender, 1)
            } catch { fail("performAndWait: \(error)") }
        }

        private func sendMessage(_ sender: Int) {
            let number = account.withLock { account in
                account.messagesTaken[sender] += 1
                return account.messagesTaken[sender] - 1
            }
            do {
                // If the loop has ended, no receiver makes room in its port.
                try port.send(sender * 1_000 + number, before: endsEarly ? .now : Self.patience)
            } catch {
                account.withLock { $0.messagesTaken[sender] -= 1 }
                if !endsEarly { fail("Port.send: \(error)") }
            }
        }

        private func ring() {
            rung.increment()
            do { try bell.send() } catch { fail("Port<Void>.send: \(error)") }
        }

        // MARK: - The account

        private func nextBlock(_ sender: Int) -> Int {
            account.withLock { account in
                account.blocksTaken[sender] += 1
                return account.blocksTaken[sender] - 1
            }
        }

        private func refused(_ sender: Int, _ count: Int) {
            account.withLock { $0.blocksTaken[sender] -= count }
            if !endsEarly { fail("a block was refused") }
        }

        private func ran(_ sender: Int, _ number: Int) {
            account.withLock { account in
                if account.blocksRun[sender] != number {
                    account.failures.append("block \(number) of sender \(sender) ran out of turn")
                }
                account.blocksRun[sender] = number + 1
            }
        }

        private func receive(_ message: Int) {
            let (sender, number) = (message / 1_000, message % 1_000)
            account.withLock { account in
                if account.messagesReceived[sender] != number {
                    account.failures.append("message \(number) of sender \(sender) came out of turn")
                }
                account.messagesReceived[sender] = number + 1
            }
        }

        private func fail(_ what: String) { account.withLock { $0.failures.append(what) } }
    }
#endif

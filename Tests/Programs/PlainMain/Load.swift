import Dispatch
import RunLoops
import Synchronization
import TestSupport

/// The main loop under load.
enum Load {
    /// A block that performs itself again does not starve the main queue.
    static func busyBlocks() {
        let rounds = Shared()
        @Sendable func again() { RunLoop.main.perform { again() } }
        @Sendable func dispatch() {
            if rounds.increment() == 99 { return RunLoop.main.stop() }
            if rounds.count.isMultiple(of: 2) {
                DispatchQueue.main.async { dispatch() }
            } else {
                Task { @MainActor in dispatch() }
            }
        }
        again()
        dispatch()
        RunLoop.main.run()
        tell("rounds:", rounds.count)
    }

    /// A block of the main queue that dispatches itself again does not starve the inputs of the loop.
    static func busyQueue() throws {
        let served = Log<String>()
        @Sendable func again() { DispatchQueue.main.async { again() } }
        @Sendable func serve(_ what: String) {
            served.add(what)
            if served.entries.count == 4 { RunLoop.main.stop() }
        }
        again()
        Timer.scheduledTimer(withTimeInterval: .milliseconds(1), repeats: false) { _ in serve("timer") }
        let wire = try Wire.pipe()
        let source = DescriptorSource(wire.near, interest: .read) { source, _ in
            source.invalidate()
            serve("descriptor")
        }
        try RunLoop.main.add(source, forMode: .default)
        let port = Port<Void>()
        RunLoop.main.add(port, forMode: .default) { serve("port") }
        DispatchQueue.global().async {
            wire.send()
            do { try port.send() } catch { tell(error) }
            RunLoop.main.perform { serve("block") }
        }
        RunLoop.main.run()
        tell(served.entries.sorted().joined(separator: ", "))
    }

    /// The number of system calls for an idle main queue.
    static func counts() throws {
        // A pass checks for blocks twice.
        let passes = 10_000
        RunLoop.main.waitPolicy = .park
        let (main, elapsed) = busy(RunLoop.main, 2 * passes)
        // The loop checks the main queue at intervals, whatever the number of passes.
        let most = Int(elapsed / .microseconds(50)) + 1
        tell("busy:", main.passes >= passes, main.kernelCalls <= most, main.wakeUps)

        let other = try onLoopThread { loop in
            loop.add(ManualSource {}, forMode: .default)
            return busy(loop, 2 * passes).0
        }
        tell("another loop:", other.passes >= passes, other.kernelCalls)

        let worker = try RunLoopThread(name: "worker")
        let before = RunLoop.main.statistics
        let start = ContinuousClock.now
        worker.runLoop.perform {
            do { for _ in 1...1_000 { try RunLoop.main.performAndWait {} } } catch { tell(error) }
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        let after = RunLoop.main.statistics
        let looks = Int((ContinuousClock.now - start) / .microseconds(50)) + 1
        let calls = after.kernelCalls - before.kernelCalls
        tell("asleep:", calls <= after.wakeUps - before.wakeUps + looks)
        complain(
            "\(main.kernelCalls) calls in \(main.passes) busy passes, at most \(most); \(calls) calls for \(after.wakeUps - before.wakeUps) wake-ups"
        )
    }

    /// What a loop did between two readings of its counts.
    private struct Work {
        let passes, kernelCalls, wakeUps: Int
    }

    private static func busy(_ loop: RunLoop, _ count: Int) -> (Work, Duration) {
        let left = Shared(count)
        @Sendable func again() {
            if left.value.subtract(1, ordering: .relaxed).newValue > 0 {
                loop.perform { again() }
            } else {
                loop.stop()
            }
        }
        let before = loop.statistics
        let start = ContinuousClock.now
        again()
        loop.run()
        let after = loop.statistics
        let work = Work(
            passes: after.passes - before.passes, kernelCalls: after.kernelCalls - before.kernelCalls,
            wakeUps: after.wakeUps - before.wakeUps)
        return (work, ContinuousClock.now - start)
    }

    /// Work that arrives piece by piece: each piece is sent when the previous one is done and the loop is about to sleep.
    static func oneAtATime() throws {
        let worker = try RunLoopThread(name: "worker")
        let rounds = 5_000
        @Sendable func next(_ round: Int) {
            let done: @Sendable () -> Void = { worker.runLoop.perform { next(round + 1) } }
            if round == 3 * rounds { return RunLoop.main.stop() }
            switch round % 3 {
            case 0: DispatchQueue.main.async(execute: done)
            case 1: RunLoop.main.perform(done)
            default: Task { @MainActor in done() }
            }
        }
        worker.runLoop.perform { next(0) }
        RunLoop.main.run()
        tell("done")
    }

    /// A loop with a long spin still notices a dispatched block.
    static func spinning() {
        RunLoop.main.waitPolicy = .spin(for: .seconds(3_600))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) {
            DispatchQueue.main.async {
                tell("served")
                RunLoop.main.stop()
            }
        }
        RunLoop.main.run()
    }

    /// Two threads send at once, in three ways each: everything arrives, and each way keeps its order.
    static func many() throws {
        let each = 10_000
        let inOrder = Log<Bool>()
        let left = Shared(2 * 3 * each)
        let ports = [Port<Int>(), Port<Int>()]
        for port in ports { RunLoop.main.add(port, forMode: .default, handler: expect()) }
        for port in ports {
            let dispatched = expect()
            let performed = expect()
            DispatchQueue.global().async {
                do {
                    for number in 0..<each {
                        DispatchQueue.main.async { dispatched(number) }
                        RunLoop.main.perform { performed(number) }
                        try port.send(number, before: .hang)
                    }
                } catch { tell(error) }
            }
        }
        RunLoop.main.run()
        tell("left:", left.count, "in order:", inOrder.entries.isEmpty)

        /// Returns a receiver of the numbers from 0, on the main thread.
        func expect() -> @Sendable (Int) -> Void {
            let next = Shared()
            return { number in
                if next.increment() != number || !RunLoop.main.isCurrent { inOrder.add(false) }
                if left.value.subtract(1, ordering: .relaxed).newValue == 0 { RunLoop.main.stop() }
            }
        }
    }
}

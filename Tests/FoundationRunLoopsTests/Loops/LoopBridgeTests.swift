import Foundation
import FoundationRunLoops
import RunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// Both loops of a thread are served, whichever of them it runs.
@Suite struct LoopBridgeTests {
    /// The loop that a thread runs.
    enum Host: CaseIterable, Sendable {
        case ours
        case foundations

        /// Runs the loop for some time, or until it is stopped.
        func run(for seconds: TimeInterval) {
            switch self {
            case .ours: RunLoop.current.run(until: .now + .seconds(seconds))
            case .foundations: Foundation.RunLoop.current.run(until: Date(timeIntervalSinceNow: seconds))
            }
        }

        /// Runs the loop until something holds.
        func run(until holds: () -> Bool) {
            let end = ContinuousClock.Instant.hang
            while !holds() && ContinuousClock.now < end {
                switch self {
                case .ours: _ = RunLoop.current.run(mode: .default, before: .now + .milliseconds(100))
                case .foundations:
                    _ = Foundation.RunLoop.current.run(
                        mode: .default, before: Date(timeIntervalSinceNow: 0.1))
                }
            }
            #expect(holds())
        }
    }

    @Test(arguments: Host.allCases)
    func `10,000 timers and 10,000 performs of each loop are served on time`(host: Host) throws {
        try onThread(priority: .firstInFirstOut(1)) {
            let bridge = try LoopBridge()
            let count = 10_000
            // Foundation needs a while to take the timers.
            let start = ContinuousClock.now + .seconds(2)
            let ours = Log<Duration>()
            let theirs = Log<Duration>()
            for index in 0..<count {
                let due = start + .microseconds(100 * index)
                RunLoop.current.add(
                    RunLoops.Timer(fireAt: due, interval: .zero, repeats: false) { _ in ours.add(.now - due)
                    },
                    forMode: .default)
                let seconds = (due - .now) / .seconds(1)
                let timer = Foundation.Timer(
                    fire: Date(timeIntervalSinceNow: seconds), interval: 0, repeats: false
                ) { _ in
                    theirs.add(.now - due)
                }
                Foundation.RunLoop.current.add(timer, forMode: .default)
            }
            let performed = Shared()
            let (ourLoop, theirLoop) = (RunLoop.current, Foundation.RunLoop.current)
            let foundations = Performer(theirLoop)
            let sender = try RunLoopThread(name: "sender")
            sender.runLoop.perform {
                for _ in 0..<count {
                    ourLoop.perform { performed.increment() }
                    foundations.perform { performed.increment() }
                }
            }
            host.run {
                ours.entries.count == count && theirs.entries.count == count && performed.count == 2 * count
            }
            sender.stop()
            bridge.invalidate()
            for (loop, late) in [("ours", ours.entries.sorted()), ("theirs", theirs.entries.sorted())] {
                #expect(loop == "theirs" || (late.first ?? .zero) >= .zero)
                // Nine of ten, because another program may hold up any one.
                #expect(late[count * 9 / 10] < .milliseconds(2), "\(loop)")
                print("bridge, \(host) runs: \(loop) late by \(late[count / 2]), at most \(late[count - 1])")
            }
        }
    }

    @Test func `a timer of either loop ends the wait of the other one`() throws {
        try onThread {
            let bridge = try LoopBridge()
            let start = ContinuousClock.now
            let theirs = Shared()
            let timer = Foundation.Timer(fire: Date(timeIntervalSinceNow: 0.05), interval: 0, repeats: false)
            { _ in
                theirs.increment()
                RunLoop.current.stop()
            }
            Foundation.RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.run(until: .now + .seconds(60))
            #expect(theirs.count == 1)

            var ours = 0
            RunLoop.current.add(
                RunLoops.Timer(timeInterval: .milliseconds(50), repeats: false) { _ in ours += 1 },
                forMode: .default)
            _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 60))
            #expect(ours == 1)
            #expect(ContinuousClock.now - start < .seconds(30))
            bridge.invalidate()
        }
    }

    @Test(arguments: Host.allCases) func `an idle thread is not woken`(host: Host) throws {
        try onThread {
            let bridge = try LoopBridge()
            var passes = 0
            let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in passes += 1 }
            RunLoop.current.add(observer, forMode: .common)
            host.run(for: 0.05)
            let switches = Self.contextSwitches()
            host.run(for: 0.3)
            let woken = Self.contextSwitches() - switches
            // The run sleeps once or a few times, until its own end.
            #expect(woken <= 8, "\(woken)")
            #expect(passes < 16, "\(passes)")
            bridge.invalidate()
        }
    }

    @Test func `a run inside a handler of the other loop serves its own, and both go on after it`() throws {
        try onThread {
            let bridge = try LoopBridge()
            for host in Host.allCases {
                let order = Log<String>()
                RunLoop.current.perform {
                    Foundation.RunLoop.current.perform { order.add("theirs inside") }
                    Foundation.RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.02))
                    order.add("ours")
                }
                host.run { order.entries.count == 2 }
                Foundation.RunLoop.current.perform {
                    RunLoop.current.perform { order.add("ours inside") }
                    RunLoop.current.run(until: .now + .milliseconds(20))
                    order.add("theirs")
                }
                host.run { order.entries.count == 4 }
                #expect(order.entries == ["theirs inside", "ours", "ours inside", "theirs"])
            }
            bridge.invalidate()
        }
    }

    @Test func `a child process can be awaited while timers of this package fire`() throws {
        try onThread {
            let bridge = try LoopBridge()
            var fires = 0
            let timer = RunLoops.Timer(timeInterval: .milliseconds(5), repeats: true) { _ in fires += 1 }
            RunLoop.current.add(timer, forMode: .default)
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sleep")
            process.arguments = ["0.2"]
            try process.run()
            process.waitUntilExit()
            #expect(fires >= 10)
            timer.invalidate()
            bridge.invalidate()
        }
    }

    @Test func `without the bridge each loop serves its own only, and nothing is left open`() throws {
        try onThread {
            _ = Foundation.RunLoop.current.run(mode: .default, before: Date())
            let open = Self.openDescriptors()
            for _ in 0..<100 {
                let bridge = try LoopBridge()
                RunLoop.current.run(until: .now + .milliseconds(1))
                bridge.invalidate()
                bridge.invalidate()
            }
            // Threads of other tests may open some meanwhile.
            #expect(Self.openDescriptors() < open + 30)
            let calls = Shared()
            RunLoop.current.perform { calls.increment() }
            _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
            #expect(calls.count == 0)
        }
    }

    // MARK: - Helpers

    /// Performs blocks on Foundation's loop, and wakes it.
    ///
    /// `@unchecked Sendable`: both calls are for any thread.
    private final class Performer: @unchecked Sendable {
        private let loop: Foundation.RunLoop
        init(_ loop: Foundation.RunLoop) { self.loop = loop }
        func perform(_ block: @escaping @Sendable () -> Void) { loop.perform(block) }
    }

    /// Runs a body on a thread of its own, with a priority if the process may set it: a real-time one keeps the load of other
    /// programs out.
    private func onThread(
        priority: RunLoopThread.Priority? = nil, _ body: @escaping @Sendable () throws -> Void
    ) throws {
        let (failures, done) = (Log<String>(), Gate())
        let start = { (priority: RunLoopThread.Priority?) in
            try RunLoopThread.detach(name: "both loops", priority: priority) { _ in
                do { try body() } catch { failures.add("\(error)") }
                done.open()
            }
        }
        do { try start(priority) } catch { try start(nil) }
        #expect(done.wait())
        #expect(failures.entries.isEmpty)
    }

    private static func contextSwitches() -> Int {
        let status = (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        return Int(line?.split(separator: "\t").last ?? "") ?? 0
    }

    private static func openDescriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}

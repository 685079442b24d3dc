import Foundation
import FoundationRunLoops
import RunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// Both loops of a thread are served, whichever of them it runs.
@Suite struct LoopBridgeTests {
    /// The loop of the thread that the thread runs.
    enum Host: CaseIterable, Sendable {
        case ours
        case foundations

        /// Runs the loop for a time, or until the loop is stopped.
        func run(for seconds: TimeInterval) {
            switch self {
            case .ours: RunLoop.current.run(until: .now + .seconds(seconds))
            case .foundations: Foundation.RunLoop.current.run(until: Date(timeIntervalSinceNow: seconds))
            }
        }

        /// Runs the loop until a condition holds.
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

    /// The ways in which a thread gets its bridge.
    enum Making: CaseIterable, Sendable {
        case outside, inOurHandler, inFoundationsHandler
        /// Three bridges, of which the first and the last end.
        case several

        func makeBridge() throws -> RunLoopBridge {
            let bridges = Log<RunLoopBridge>()
            let add: @Sendable () -> Void = {
                do { bridges.add(try RunLoopBridge()) } catch { Issue.record(error) }
            }
            switch self {
            case .outside: add()
            case .inOurHandler:
                let timer = RunLoops.Timer(fireAt: .now, interval: .zero, repeats: false) { _ in add() }
                RunLoop.current.add(timer, forMode: .default)
                Host.ours.run { !bridges.entries.isEmpty }
            case .inFoundationsHandler:
                let timer = Foundation.Timer(fire: Date(), interval: 0, repeats: false) { _ in add() }
                Foundation.RunLoop.current.add(timer, forMode: .default)
                Host.foundations.run { !bridges.entries.isEmpty }
            case .several:
                for _ in 0..<3 { add() }
                bridges.entries[0].invalidate()
                bridges.entries[2].invalidate()
                return bridges.entries[1]
            }
            return try #require(bridges.entries.first)
        }
    }

    @Test(arguments: Host.allCases, Making.allCases)
    func `10,000 timers and 10,000 performs of each loop are served, whichever loop runs, and none early`(
        host: Host, making: Making
    ) throws {
        let count = 10_000
        let fired = Log<(loop: Host, index: Int, lateness: Duration)>()
        try onThread {
            let bridge = try making.makeBridge()
            let start = ContinuousClock.now + .milliseconds(100)
            for index in 0..<count {
                let due = start + .microseconds(10 * index)
                let ours = RunLoops.Timer(fireAt: due, interval: .zero, repeats: false) { _ in
                    fired.add((.ours, index, .now - due))
                }
                RunLoop.current.add(ours, forMode: .default)
                let date = Date(timeIntervalSinceNow: (due - .now) / .seconds(1))
                let theirs = Foundation.Timer(fire: date, interval: 0, repeats: false) { _ in
                    fired.add((.foundations, index, .now - due))
                }
                Foundation.RunLoop.current.add(theirs, forMode: .default)
            }
            let performed = Shared()
            let (ourLoop, theirLoop) = (RunLoop.current, Performer(Foundation.RunLoop.current))
            let sender = try RunLoopThread(name: "sender")
            sender.runLoop.perform {
                for _ in 0..<count {
                    ourLoop.perform { performed.increment() }
                    theirLoop.perform { performed.increment() }
                }
            }
            host.run { fired.entries.count == 2 * count && performed.count == 2 * count }
            sender.stop()
            bridge.invalidate()
        }
        let ours = fired.entries.filter { $0.loop == .ours }
        #expect(ours.map(\.index) == Array(0..<count))
        #expect(ours.allSatisfy { $0.lateness >= .zero })
        #expect(Set(fired.entries.filter { $0.loop == .foundations }.map(\.index)).count == count)
    }

    // Guarantees: On a thread with a bridge, a timer of either loop ends the wait of the other one, and no idle thread is woken.
    @Test func `a timer of either loop ends the wait of the other one`() throws {
        try onThread {
            let bridge = try RunLoopBridge()
            let theirs = Shared()
            let timer = Foundation.Timer(fire: Date(timeIntervalSinceNow: 0.05), interval: 0, repeats: false)
            { _ in
                theirs.increment()
                RunLoop.current.stop()
            }
            Foundation.RunLoop.current.add(timer, forMode: .default)
            #expect(RunLoop.current.run(in: .default, until: .hang) == .stopped)
            #expect(theirs.count == 1)

            var ours = 0
            RunLoop.current.add(
                RunLoops.Timer(timeInterval: .milliseconds(50), repeats: false) { _ in ours += 1 },
                forMode: .default)
            _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 600))
            #expect(ours == 1)
            bridge.invalidate()
        }
    }

    // Guarantees: On a thread with a bridge, a timer of either loop ends the wait of the other one, and no idle thread is woken.
    @Test(arguments: Host.allCases) func `an idle thread is not woken`(host: Host) throws {
        try onThread {
            let bridge = try RunLoopBridge()
            var passes = 0
            let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in passes += 1 }
            RunLoop.current.add(observer, forMode: .common)
            host.run(for: 0.05)
            let switches = Self.contextSwitches()
            host.run(for: 0.3)
            let woken = Self.contextSwitches() - switches
            // The run sleeps a few times at most before it ends.
            #expect(woken <= 8, "\(woken)")
            #expect(passes < 16, "\(passes)")
            bridge.invalidate()
        }
    }

    @Test func `a run inside a handler of the other loop serves its own, and both go on after it`() throws {
        try onThread {
            let bridge = try RunLoopBridge()
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
            let bridge = try RunLoopBridge()
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
                let bridge = try RunLoopBridge()
                RunLoop.current.run(until: .now + .milliseconds(1))
                bridge.invalidate()
                bridge.invalidate()
            }
            // Other tests can open some descriptors meanwhile.
            #expect(Self.openDescriptors() < open + 30)
            let calls = Shared()
            RunLoop.current.perform { calls.increment() }
            _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
            #expect(calls.count == 0)
        }
    }

    // MARK: - Helpers

    /// Performs blocks on another thread's loop of Foundation.
    ///
    /// `@unchecked Sendable`: any thread can call `perform`.
    final class Performer: @unchecked Sendable {
        private let loop: Foundation.RunLoop
        init(_ loop: Foundation.RunLoop) { self.loop = loop }
        func perform(_ block: @escaping @Sendable () -> Void) { loop.perform(block) }
    }

    /// Runs a body on a new thread.
    private func onThread(_ body: @escaping @Sendable () throws -> Void) throws {
        let (failures, done) = (Log<String>(), Gate())
        try RunLoopThread.detach(name: "both loops") { _ in
            do { try body() } catch { failures.add("\(error)") }
            done.open()
        }
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

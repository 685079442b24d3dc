import CFaults
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

    @Test
    func
        `10,000 timers and 10,000 performs of each loop are served within 2 ms of the time that each loop alone takes`()
        throws
    {
        var failures: [String] = []
        // Other programs can delay some timers. So one attempt of five must succeed, with 99 % of the timers, or 90 % with a
        // sanitizer.
        let rank = faults_are_slow() ? 9_000 : 9_900
        for _ in 0..<5 {
            failures = []
            let native = try Host.allCases.map {
                try lateness(of: [$0], host: $0, isBridged: false)[$0] ?? []
            }
            for host in Host.allCases {
                let bridged = try lateness(of: Host.allCases, host: host, isBridged: true)
                for (loop, native) in zip(Host.allCases, native) {
                    let late = bridged[loop] ?? []
                    #expect(late.count == 10_000 && native.count == 10_000)
                    #expect(loop == .foundations || late[0] >= .zero)
                    let bound = native[rank] + .milliseconds(2)
                    if late[rank] > bound {
                        failures.append("\(host) runs: \(loop) late by \(late[rank]), bound \(bound)")
                    }
                }
            }
            if failures.isEmpty { return }
        }
        #expect(failures.isEmpty)
    }

    /// Measures the lateness of 10,000 timers of each loop, while 10,000 blocks are performed on each.
    ///
    /// - Parameters:
    ///   - loops: The loops that have timers and blocks.
    ///   - host: The loop that the thread runs.
    ///   - isBridged: True if a bridge serves both loops.
    /// - Returns: The latenesses of each loop, sorted.
    /// - Throws: An error if a thread or the bridge cannot be made.
    private func lateness(of loops: [Host], host: Host, isBridged: Bool) throws -> [Host: [Duration]] {
        let latenesses = Log<(Host, Duration)>()
        try onThread(priority: .firstInFirstOut(1)) {
            let bridge = isBridged ? try LoopBridge() : nil
            let count = 10_000
            // Foundation needs some time to add the timers.
            let start = ContinuousClock.now + .seconds(2)
            for index in 0..<count {
                let due = start + .microseconds(100 * index)
                if loops.contains(.ours) {
                    let timer = RunLoops.Timer(fireAt: due, interval: .zero, repeats: false) { _ in
                        latenesses.add((.ours, .now - due))
                    }
                    RunLoop.current.add(timer, forMode: .default)
                }
                if loops.contains(.foundations) {
                    let date = Date(timeIntervalSinceNow: (due - .now) / .seconds(1))
                    let timer = Foundation.Timer(fire: date, interval: 0, repeats: false) { _ in
                        latenesses.add((.foundations, .now - due))
                    }
                    Foundation.RunLoop.current.add(timer, forMode: .default)
                }
            }
            let performed = Shared()
            let (ourLoop, theirLoop) = (RunLoop.current, Performer(Foundation.RunLoop.current))
            let sender = try RunLoopThread(name: "sender")
            sender.runLoop.perform {
                for _ in 0..<count {
                    if loops.contains(.ours) { ourLoop.perform { performed.increment() } }
                    if loops.contains(.foundations) { theirLoop.perform { performed.increment() } }
                }
            }
            host.run {
                latenesses.entries.count == loops.count * count && performed.count == loops.count * count
            }
            sender.stop()
            bridge?.invalidate()
        }
        return Dictionary(grouping: latenesses.entries, by: \.0).mapValues { $0.map(\.1).sorted() }
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
            // The run sleeps a few times at most before it ends.
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

    /// Runs a body on a new thread, with a priority if the process is allowed to set it.
    ///
    /// A real-time priority excludes the load of other programs.
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

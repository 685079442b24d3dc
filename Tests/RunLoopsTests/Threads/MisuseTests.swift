import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// Misuse ends the program with a message that says what is wrong and what to do.
@Suite struct MisuseTests {
    @Test func `a loop cannot run in the common modes`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in loop.run(until: .now) }
            try onLoopThread { loop in loop.run(in: .common, until: .now) }
        }
        expect(
            result, says: "RunLoop.run: .common is a set of modes", "run in .default, or in a mode of the set"
        )
    }

    @Test func `the common modes cannot be made common`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in loop.addCommonMode(.common) }
        }
        expect(result, says: "RunLoop.addCommonMode: .common is the set itself; name a mode to join it")
    }

    @Test func `a block needs a mode to run in`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            RunLoop.main.perform(inModes: []) {}
        }
        expect(result, says: "RunLoop.perform: no mode, so the block would never run; use [.common]")
    }

    @Test func `a block that runs later needs a mode to run in`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            RunLoop.main.perform(after: .zero, inModes: []) {}
        }
        expect(result, says: "RunLoop.perform(after:): no mode, so the block would never run; use [.common]")
    }

    @Test func `a block that is waited for needs a mode to run in`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await RunLoop.main.performAndWait(inModes: []) {}
        }
        expect(result, says: "no mode, so the block would never run; use [.common]")
    }

    @Test func `a tolerance is not negative`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Timer(timeInterval: .seconds(1), repeats: true) { _ in }.tolerance = .nanoseconds(-1)
        }
        expect(result, says: "Timer.tolerance: ", " is negative; ", "use zero or more")
    }

    @Test func `a time to spin is not negative`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RunLoop.WaitPolicy.spin(for: .nanoseconds(-1))
        }
        expect(result, says: "WaitPolicy.spin(for:): ", " is negative; use .park to sleep at once")
    }

    @Test(arguments: [0, -1, 1_000_001]) func `a queue limit is between 1 and a million`(limit: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [limit] in
            _ = PortQueueLimit(limit)
        }
        expect(result, says: "PortQueueLimit: \(limit) is not between 1 and 1,000,000; use .unlimited")
    }

    @Test func `a thread does not wait for its own end`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "worker")
            try await thread.runLoop.performAndWait { _ = thread.join() }
        }
        expect(result, says: "RunLoopThread.join: called on the thread itself", "call stop() only")
    }

    @Test(arguments: Input.allCases) func `an input is in one loop at a time`(input: Input) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [input] in
            try onLoopThread { loop in
                // This is safe as far as the misuse is detected: this thread waits for the other one.
                nonisolated(unsafe) let add = try input.makeAdding()
                unsafe add(loop)
                try BareThread { unsafe add(RunLoop.current) }.join()
            }
        }
        expect(result, says: "RunLoop.add(\(input.noun)): the ", " is in another loop; remove it there first")
        // The message names the place in the source where the input was made.
        if input != .observer { expect(result, says: "made at RunLoopsTests/MisuseTests.swift:") }
    }

    @Test func `a descriptor closed before its source was invalidated is detected when it is served`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let wires = [try Wire.pipe(), try Wire.pipe()]
                for wire in wires {
                    wire.send()
                    let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                        for wire in wires { wire.close() }
                    }
                    try loop.add(source, forMode: .default)
                }
                loop.run(until: .hang)
            }
        }
        expect(
            result, says: "RunLoop: the descriptor of the source of descriptor ",
            "made at RunLoopsTests/MisuseTests.swift:", " was closed; invalidate the source first")
    }

    @Test func `a descriptor closed before its source was invalidated is detected when it is watched again`()
        async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
                try loop.add(source, forMode: .default)
                loop.perform(inModes: [.init("other")]) {}
                loop.run(in: .init("other"), until: .now)
                wire.close()
                loop.run(until: .now)
            }
        }
        expect(
            result, says: "RunLoop: the descriptor of the source of descriptor ",
            "made at RunLoopsTests/MisuseTests.swift:", " was closed; invalidate the source first")
    }

    @Test func `closing a loop's own descriptor ends the program with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "worker")
            waitUntilAsleep(thread.runLoop)
            close(thread.runLoop.handle.wakeup.descriptor)
            thread.runLoop.perform {}
        }
        expect(result, says: "RunLoop: the descriptor that wakes a loop was closed by other code")
    }

    @Test func `asking for the current loop ends the program if no descriptor is left`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try BareThread {
                do { try limitDescriptors(to: 0) } catch { Issue.record(error) }
                _ = RunLoop.current
            }.join()
        }
        expect(
            result, says: "RunLoop.current: eventfd: Too many open files (24)",
            "raise the limit of open descriptors, or use RunLoop.makeCurrent()")
    }

    @Test func `asking for the main loop ends the program if no descriptor is left`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try limitDescriptors(to: 0)
            _ = RunLoop.main
        }
        expect(
            result, says: "RunLoop.main: eventfd: Too many open files (24)",
            "raise the limit of open descriptors")
    }
}

/// The kinds of input that can be in only one loop.
enum Input: String, Codable, CaseIterable {
    case timer, descriptor, manual, observer, port

    /// The name of the input in a message.
    var noun: String {
        switch self {
        case .timer, .observer, .port: rawValue
        case .descriptor, .manual: "source"
        }
    }

    /// Makes an input.
    ///
    /// - Returns: A closure that adds the input to a loop.
    /// - Throws: `SystemError` if no descriptor is left.
    func makeAdding() throws -> (RunLoop) -> Void {
        switch self {
        case .timer:
            let timer = Timer(timeInterval: .seconds(60), repeats: true) { _ in }
            return { $0.add(timer, forMode: .default) }
        case .observer:
            let observer = RunLoop.Observer(activities: .entry) { _, _ in }
            return { $0.add(observer, forMode: .default) }
        case .manual:
            let source = ManualSource {}
            return { $0.add(source, forMode: .default) }
        case .port:
            let port = Port<Int>()
            return { $0.add(port, forMode: .default) { _ in } }
        case .descriptor:
            let source = DescriptorSource(try Wire.pipe().near, interest: .read) { _, _ in }
            return { loop in
                do { try loop.add(source, forMode: .default) } catch { Issue.record(error) }
            }
        }
    }
}

import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// In a forked child, whatever stops or cancels something does only what needs no loop, and the parent is not disturbed.
///
/// Each test has a process of its own, which forks.
@Suite struct ForkedStopTests {
    /// The stops of a loop, of which a child has none.
    enum Stop: String, Codable, CaseIterable {
        case ownLoop, otherLoop, mainLoop, thread, group
    }

    // Guarantees: A stop in a forked child does nothing, and the parent's loops continue to run.
    @Test(arguments: Stop.allCases)
    func `a stop in a forked child does nothing, and the parent's loop runs on`(stop: Stop) async {
        await #expect(processExitsWith: .success) { [stop] in
            let group = try RunLoopThreadGroup(count: 2, name: "group")
            let main = RunLoop.main
            try onLoopThread { loop in
                for thread in group.threads { try thread.runLoop.performAndWait {} }
                let ending = Child {
                    switch stop {
                    case .ownLoop: loop.stop()
                    case .otherLoop: group.threads[0].runLoop.stop()
                    case .mainLoop: main.stop()
                    case .thread: group.threads[0].stop()
                    case .group: group.stop()
                    }
                    return 0
                }.wait()
                #expect(ending == .exited(0))
                loop.perform {}
                #expect(loop.run(in: .default, until: .hang) == .finished)
                for thread in group.threads { try thread.runLoop.performAndWait {} }
            }
            group.stop()
            _ = await group.join()
        }
    }

    @Test(arguments: [true, false])
    func `a delayed block that a forked child cancels is still pending in the parent`(isOnLoopThread: Bool)
        async
    {
        await #expect(processExitsWith: .success) { [isOnLoopThread] in
            let thread = try RunLoopThread(name: "delayed")
            let loop = thread.runLoop
            let alive = Shared()
            let delayed = {
                let counted = Counted(alive)
                return loop.perform(after: .seconds(600)) { withExtendedLifetime(counted) {} }
            }()
            let fork: @Sendable () -> Child.Ending = {
                Child {
                    if delayed.cancel() != .cancelled || delayed.isPending { return 1 }
                    return alive.count == 0 ? 0 : 2
                }.wait()
            }
            // The loop has taken the block.
            try await loop.performAndWait {}
            if isOnLoopThread {
                #expect(try await loop.performAndWait(fork) == .exited(0))
            } else {
                #expect(fork() == .exited(0))
            }
            #expect(delayed.isPending && alive.count == 1)
            #expect(delayed.cancel() == .cancelled)
            thread.stop()
            _ = await thread.join()
        }
    }

    // Guarantees: An end in a forked child calls no handler, and the parent's object continues to work.
    @Test(arguments: [true, false])
    func `a port that a forked child ends does not wake the parent's loop`(isSignalPort: Bool) async {
        await #expect(processExitsWith: .success) { [isSignalPort] in
            let thread = try RunLoopThread(name: "receiver")
            let loop = thread.runLoop
            let (numbers, signals, calls) = (Port<Int>(), Port<Void>(), Shared())
            let wakes = Shared()
            try await loop.performAndWait {
                let loop = RunLoop.current
                loop.waitPolicy = .park
                loop.add(numbers, forMode: .default) { _ in calls.increment() }
                loop.add(signals, forMode: .default) { calls.increment() }
                numbers.addInvalidationHandler { Issue.record("the parent's port has not ended") }
                loop.add(
                    RunLoop.Observer(activities: .afterWaiting) { _, _ in wakes.increment() },
                    forMode: .default)
            }
            waitUntil("the loop sleeps") { loop.handle.mailbox.current.isArmed }
            let before = wakes.count
            let ending = Child {
                if isSignalPort { signals.invalidate() } else { numbers.invalidate() }
                return (isSignalPort ? signals.isValid : numbers.isValid) ? 1 : 0
            }.wait()
            #expect(ending == .exited(0))
            #expect(numbers.isValid && signals.isValid)
            #expect(wakes.count == before)
            try await numbers.send(1)
            try signals.send()
            waitUntil("both are delivered") { calls.count == 2 }
            thread.stop()
            _ = await thread.join()
        }
    }

    @Test(.disabled(if: ForcedRecording.isOn))
    func `a watchdog and a recorder that a forked child stops go on in the parent`() async {
        await #expect(processExitsWith: .success) {
            let reports = Shared()
            let watchdog = try RunLoopWatchdog(threshold: .milliseconds(1)) { _ in reports.increment() }
            let recorder = try FlightRecorder()
            let thread = try RunLoopThread(name: "watched")
            try await thread.runLoop.performAndWait {}
            let ending = Child {
                watchdog.stop()
                recorder.stop()
                return 0
            }.wait()
            #expect(ending == .exited(0))
            let reported = Gate()
            thread.runLoop.perform { _ = reported.wait() }
            waitUntil("the blocked handler is reported") { reports.count > 0 }
            reported.open()
            try await thread.runLoop.performAndWait {}
            #expect(recorder.snapshot().threads.count > 0)
            watchdog.stop()
            recorder.stop()
            thread.stop()
            _ = await thread.join()
        }
    }
}

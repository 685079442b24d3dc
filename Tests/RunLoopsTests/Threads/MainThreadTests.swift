import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The owner of the main thread, and the messages if the main loop cannot use the thread.
@Suite struct MainThreadTests {
    private let hasEnded =
        "waited: run loop \"main\": the loop's thread ended before it had done what was asked"

    @Test func `a synchronous main type runs the main loop`() throws {
        let ending = try Program("SyncMain").run()
        #expect(ending.lines == ["counted to three: true"])
        #expect(ending.isSuccess)
    }

    @Test func `an asynchronous main that has adopted the main thread keeps it`() throws {
        let ending = try Program("AsyncMain").run("stays")
        let both = "main thread and main queue"
        #expect(
            ending.lines == [
                "main itself: elsewhere", "main actor: \(both)", "main actor, later: \(both)",
                "main queue: \(both)", "performed: \(both)", "timer: \(both) kCFRunLoopDefaultMode",
                "after a stop: \(both)",
            ])
        #expect(ending.message == "")
        #expect(ending.isSuccess)
    }

    @Test func `a main file that awaits keeps the main thread, too, if it has adopted it`() throws {
        let ending = try Program("TopLevelMain").run()
        let both = "main thread and main queue"
        #expect(ending.lines == ["before: \(both)", "after: \(both)", "performed: \(both)"])
        #expect(ending.message == "")
        #expect(ending.isSuccess)
    }

    @Test func `a run inside a task of the main actor serves the loop and no other task`() throws {
        let ending = try Program("AsyncMain").run("nested")
        #expect(
            ending.lines == ["empty: finished", "timer", "with a timer: finished", "run ended", "other task"])
        #expect(ending.isSuccess)
    }

    @Test func `an error that main throws ends the program`() throws {
        let ending = try Program("AsyncMain").run("fails")
        #expect(ending.message.contains("Failure()"))
        #expect(!ending.isSuccess && !ending.hung)
    }

    @Test func `an asynchronous main may run the loop before its first await`() throws {
        let ending = try Program("SuspendingMain").run("before")
        let both = "main thread and main queue"
        #expect(ending.lines == ["main queue: \(both)", "main actor: \(both)"])
        #expect(ending.isSuccess)
    }

    @Test func `an asynchronous main that gives up the main thread ends the main loop, with a message`()
        throws
    {
        let ending = try Program("SuspendingMain").run("holding")
        #expect(ending.lines == [hasEnded, "performed: false", "main actor: main queue only"])
        #expect(
            ending.message.contains("an asynchronous main calls RunLoop.adoptMain() before its first await"))
        #expect(ending.isSuccess)
    }

    @Test func `a main loop that is asked for too late has ended`() throws {
        let ending = try Program("SuspendingMain").run("untouched")
        #expect(ending.lines == [hasEnded, "performed: false", "main actor: main queue only"])
        #expect(ending.isSuccess)
    }

    @Test func `adopting the main thread after the first await is misuse`() throws {
        let ending = try Program("SuspendingMain").run("late")
        expect(
            ending, says: "RunLoop.adoptMain: called outside the main thread;",
            "an asynchronous main calls it before its first await, which gives the main thread away")
    }

    @Test func `adopting the main thread from another one is misuse`() throws {
        let ending = try Program("PlainMain").run("adopted elsewhere")
        expect(ending, says: "RunLoop.adoptMain: called outside the main thread;")
    }

    @Test func `using a main loop that has lost its thread ends the program with advice`() throws {
        let cure = "call RunLoop.adoptMain() before that await"
        let added = try Program("SuspendingMain").run("member")
        expect(added, says: "RunLoop.add(source): the main thread was given away", cure)
        let ran = try Program("PlainMain").run("run when given away")
        expect(ran, says: "RunLoop.run: the main thread was given away, by dispatchMain()", cure)
    }

    // Guarantees: No wait for a main loop lasts for ever because its thread was given away.
    @Test(arguments: [
        ("given away", ["before: true"], true), ("given away with work", ["queue: main queue only"], true),
        ("given away first", [], false),
    ]) func `a wait for a main loop fails when its thread is given away`(
        program: String, lines: [String], isReported: Bool
    ) throws {
        let ending = try Program("PlainMain").run(program)
        #expect(ending.lines == lines + [hasEnded, "destroyed: true", "after: false"])
        let report = "RunLoop.main: the main thread was given away, and what its loop holds is never served;"
        #expect(ending.message.contains(report) == isReported)
        #expect(ending.isSuccess)
    }

    @Test func `where the main queue is out of reach, the main loop says so and serves the rest`() throws {
        let ending = try Program("PlainMain").run("hidden")
        #expect(
            ending.lines == [
                "swift_task_asyncMainDrainQueue_hook: Operation not supported (95)",
                "timer: main thread and main queue", "stopped",
            ])
        #expect(
            ending.message
                == "RunLoop.main: this libdispatch does not let a run loop serve the main queue; blocks of DispatchQueue.main and tasks of the main actor do not run while the main loop runs\n"
        )
        #expect(ending.isSuccess)
    }

    @Test func `the main thread is adopted any number of times, and not taken from others`() throws {
        let ending = try Program("PlainMain").run("taken")
        #expect(
            ending.lines == [
                "adopted twice", "swift_task_asyncMainDrainQueue_hook: Device or resource busy (16)",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `Foundation's main loop may serve the main queue, too`() throws {
        let ending = try Program("PlainMain").run("Foundation")
        let rounds = (1...3).flatMap { ["theirs \($0)", "ours \($0)", "stopped"] }
        #expect(
            ending.lines == rounds + [
                "block ends", "after the block", "stopped", "timedOut", "block ends", "after the block",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `the programs of the article behave as it says`() throws {
        // The timer is due after a tenth of a second, which can pass before the first pass.
        let isSeen = try isSeenOnce {
            let plain = try Program("PlainMain").run("documented")
            return plain.isSuccess
                && plain.lines == [
                    "a block of the main queue", "a task of the main actor", "a timer of the main loop",
                ]
        }
        #expect(isSeen)
        #expect(try Program("PlainMain").run("documented difference").lines == ["true false"])
    }

    @Test func `a simulation on the main thread leaves the main loop for later`() throws {
        let ending = try Program("PlainMain").run("simulated")
        #expect(
            ending.lines == [
                "another loop: true", "a minute later", "the main loop again: true",
                "a block of the main loop",
            ])
        #expect(ending.isSuccess)
    }

    @Test func `a runtime that does not honour the adoption is detected`() throws {
        let ending = try Program("PlainMain").run("adopted in vain")
        #expect(ending.lines == [hasEnded, "destroyed: true", "after: false"])
        #expect(ending.message.contains("RunLoop.adoptMain: the main thread was given away all the same"))
        #expect(ending.isSuccess)
    }

    @Test func `a program that another one runs is judged by how it ends`() throws {
        let unknown = try Program("PlainMain").run("unknown")
        #expect(unknown.lines == ["no such program"])
        #expect(unknown.code == 64)
        let hanging = try Program("PlainMain").run("hangs", seconds: 1)
        #expect(hanging.hung)
        #expect(hanging.code == nil)
        #expect(throws: SystemError.self) { try Program("no such file").run() }
    }

    private func expect(
        _ ending: Program.Ending, says texts: String..., location: Testing.SourceLocation = #_sourceLocation
    ) {
        #expect(!ending.isSuccess && !ending.hung, sourceLocation: location)
        for text in texts {
            #expect(ending.message.contains(text), "\(ending.message)", sourceLocation: location)
        }
    }
}

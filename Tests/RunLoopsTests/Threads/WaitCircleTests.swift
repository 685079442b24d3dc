import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A wait that would close a circle of threads that wait for each other's loops fails, and names the circle.
@Suite struct WaitCircleTests {
    // Guarantees: A wait that would be part of a circle of the waits above is refused before it begins; if several threads close a
    // circle at the same moment, one of their waits is refused.
    @Test(arguments: [2, 3, 7]) func `a circle of any length is refused where it would be closed`(length: Int)
        throws
    {
        let threads = try (0..<length).map { try RunLoopThread(name: "loop \($0)") }
        let loops = threads.map(\.runLoop)
        let refused = Log<WaitCircle>()
        // Each thread waits for the next one inside its own block. The last thread waits for the first.
        try climb(loops, from: 0) {
            let error = #expect(throws: PerformError.self) {
                try loops[0].performAndWait { Issue.record("nobody can run this") }
            }
            if let circle = error?.circle { refused.add(circle) }
        }
        let circle = try #require(refused.entries.first)
        #expect(circle.waits.map(\.loop) == [loops[length - 1]] + loops.dropLast())
        #expect(Set(circle.waits.map(\.operation)) == ["RunLoop.performAndWait"])
        #expect(Set(circle.waits.map(\.fileID)) == ["RunLoopsTests/WaitCircleTests.swift"])
        #expect(Set(circle.waits.map(\.line)).count == 2)
        // The refused wait has left no trace.
        try climb(loops, from: 0) {}
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }

    /// Runs a block on the last of several loops, each of which waits for the next one.
    private func climb(_ loops: [RunLoop], from index: Int, _ body: @escaping @Sendable () -> Void) throws {
        try loops[index].performAndWait {
            if index + 1 == loops.count { return body() }
            do { try climb(loops, from: index + 1, body) } catch { Issue.record(error) }
        }
    }

    @Test func `the error names the waiting threads, their targets and the places`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        let message = try one.runLoop.performAndWait {
            try two.runLoop.performAndWait(fileID: "Model/Two.swift", line: 22) {
                do {
                    try one.runLoop.performAndWait(fileID: "View/One.swift", line: 11) {}
                    return "no error"
                } catch { return "\(error)" }
            }
        }
        #expect(
            message == """
                the wait would never end: run loop "two" waits in RunLoop.performAndWait (View/One.swift:11) for \
                run loop "one", which waits in RunLoop.performAndWait (Model/Two.swift:22) for run loop "two"
                """)
        one.stop()
        two.stop()
    }

    // Guarantees: A wait that would be part of a circle of the waits above is refused before it begins; if several threads close a
    // circle at the same moment, one of their waits is refused.
    @Test func `a refused block does not run later`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        let alive = Shared()
        try one.runLoop.performAndWait {
            try two.runLoop.performAndWait {
                #expect(throws: PerformError.self) {
                    try one.runLoop.performAndWait { [object = Counted(alive)] in
                        withExtendedLifetime(object) { Issue.record("it was refused") }
                    }
                }
                #expect(alive.count == 0)
            }
        }
        try one.runLoop.performAndWait {}
        one.stop()
        two.stop()
    }

    @Test func `a deadline does not keep a circle from being refused`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        try one.runLoop.performAndWait {
            try two.runLoop.performAndWait(before: .hang) {
                let error = #expect(throws: PerformError.self) {
                    try one.runLoop.performAndWait(before: .hang) {}
                }
                #expect(error?.reason == .wouldDeadlock && error?.circle != nil)
            }
        }
        one.stop()
        two.stop()
    }

    @Test func `a wait whose deadline has passed before it began is refused for no circle`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        try one.runLoop.performAndWait {
            try two.runLoop.performAndWait {
                _ = #expect(throws: PerformError(.timedOut)) {
                    try one.runLoop.performAndWait(before: .distantPast) {}
                }
            }
        }
        one.stop()
        two.stop()
    }

    @Test func `a wait whose deadline has passed is in no circle any more`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        let (hasGivenUp, release) = (Gate(), Gate())
        two.runLoop.perform {
            #expect(hasGivenUp.wait())
            // The other thread continues in a wait that the library does not know.
            #expect(throws: PerformError(.timedOut)) {
                try one.runLoop.performAndWait(before: .now + .milliseconds(5)) {}
            }
            release.open()
        }
        try one.runLoop.performAndWait {
            #expect(throws: PerformError(.timedOut)) {
                try two.runLoop.performAndWait(before: .now + .milliseconds(5)) {}
            }
            hasGivenUp.open()
            #expect(release.wait())
        }
        one.stop()
        two.stop()
    }

    @Test func `many threads that wait for one are no circle, with loops or without`() throws {
        let target = try RunLoopThread(name: "target")
        let release = Gate()
        target.runLoop.perform { #expect(release.wait()) }
        let withLoops = try Threads(4) { number in
            let answer = try target.runLoop.performAndWait { number }
            #expect(answer == number)
        }
        let without = try (0..<4).map { number in
            try BareThread {
                do {
                    let answer = try target.runLoop.performAndWait { number }
                    #expect(answer == number)
                } catch { Issue.record(error) }
            }
        }
        release.open()
        try withLoops.join()
        for thread in without { thread.join() }
        target.stop()
    }

    @Test func `a thread that has been served is not taken for one that waits`() throws {
        // A thread that has been served continues at once, and waits for a thread that can still be marked as waiting.
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        for _ in 0..<2_000 {
            let done = Gate()
            one.runLoop.perform {
                do {
                    try two.runLoop.performAndWait {
                        _ = two.runLoop.perform {
                            do { try one.runLoop.performAndWait {} } catch { Issue.record(error) }
                            done.open()
                        }
                    }
                } catch { Issue.record(error) }
            }
            #expect(done.wait())
        }
        one.stop()
        two.stop()
    }

    // Guarantees: A wait that would be part of a circle of the waits above is refused before it begins; if several threads close a
    // circle at the same moment, one of their waits is refused.
    @Test(arguments: [2, 3, 6]) func `of threads that close a circle at one moment exactly one is refused`(
        length: Int
    ) throws {
        let threads = try (0..<length).map { try RunLoopThread(name: "loop \($0)") }
        for _ in 0..<200 {
            let (arrived, refusals) = (Shared(), Shared())
            let done = (0..<length).map { _ in Gate() }
            for (number, thread) in threads.enumerated() {
                let next = threads[(number + 1) % length].runLoop
                thread.runLoop.perform {
                    // No loop can serve before all threads wait, so there is a circle in any order of arrival.
                    arrived.increment()
                    waitUntil("all are in their blocks") { arrived.count == length }
                    do { try next.performAndWait {} } catch let error as PerformError {
                        refusals.increment()
                        #expect(error.circle?.waits.count == length)
                        #expect(error.circle?.waits[0].loop == thread.runLoop)
                    } catch { Issue.record(error) }
                    done[number].open()
                }
            }
            for gate in done { #expect(gate.wait()) }
            #expect(refusals.count == 1)
        }
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }

    @Test func `the main loop is held by the main thread, even before that has asked for it`() throws {
        #expect(RunLoop.main.waitTarget == .mainLoop)
        try onLoopThread { loop in
            #expect(loop.waitTarget == .loop(UInt(bitPattern: ObjectIdentifier(loop.handle))))
            let wait = ThreadWait(in: "here", fileID: #fileID, line: #line) { [] }
            #expect(wait.heldTargets == [loop.waitTarget])
            #expect(wait.loop == loop)
        }
    }

    @Test func `waits that fail in other ways have errors of their own`() throws {
        let (busy, ended) = (try RunLoopThread(name: "busy"), try RunLoopThread(name: "ended"))
        let release = Gate()
        busy.runLoop.perform { #expect(release.wait()) }
        ended.stop()
        ended.join()
        try onLoopThread { _ in
            #expect(throws: PerformError(.timedOut)) {
                try busy.runLoop.performAndWait(before: .now + .milliseconds(1)) {}
            }
            #expect(throws: PerformError(.loopEnded)) { try ended.runLoop.performAndWait {} }
            release.open()
            #expect(throws: Refusal()) { try busy.runLoop.performAndWait { throw Refusal() } as Void }
        }
        busy.stop()
    }

    private struct Refusal: Error, Equatable {}
}

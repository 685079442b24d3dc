import CRunLoops
import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Reports of the package reach standard error or the program's handler without blocking a thread of the program.
@Suite struct DiagnosticTests {
    @Test func `a report that no process can read ends nothing, and counts as dropped`() async throws {
        try await #require(processExitsWith: .success) {
            let wire = try Wire.pipe()
            wire.close(wire.near)
            try withStandardError(wire.far) {
                Signals.ignore(SIGPIPE, false)
                Signals.block(SIGPIPE, false)
                RunLoopDiagnostics.report("no process reads this")
                DiagnosticQueue.drainProcess(until: .hang)
                #expect(RunLoopDiagnostics.droppedCount == 1)
            }
        }
    }

    // Guarantees: A report does not block the thread that causes it.
    @Test func `a report does not wait for room, and dropped reports are counted and reported`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            // A report that blocks this thread would block it for ever.
            Child.endThisIfItHangs(seconds: 30)
            let wire = try Wire.pipe()
            let filler = try fill(wire)
            let most = RunLoopDiagnostics.capacity
            try withStandardError(wire.far) {
                for number in 0..<1_000 { RunLoopDiagnostics.report("report \(number)") }
                // The writing thread can have taken one line out of the queue.
                let dropped = RunLoopDiagnostics.droppedCount
                #expect(dropped == 1_000 - most || dropped == 1_000 - most - 1)
                let reader = try Threads(1) { _ in
                    let lines = readLines(wire.near, after: filler, count: 1_000 - dropped + 1)
                    #expect(lines.dropLast() == (0..<1_000 - dropped).map { "report \($0)" }[...])
                    #expect(lines.last?.contains(" \(dropped) reports were dropped") == true)
                }
                DiagnosticQueue.drainProcess(until: .hang)
                try reader.join()
                // There is room again, so lines are accepted.
                RunLoopDiagnostics.report("one more")
                #expect(readLines(wire.near, after: 0, count: 1) == ["one more"])
                #expect(RunLoopDiagnostics.droppedCount == dropped)
            }
        }
    }

    @Test func `a standard error that does not block is waited for, and gets each line whole`() async throws {
        try await #require(processExitsWith: .success) {
            Child.endThisIfItHangs(seconds: 30)
            let wire = try Wire.pipe()
            let filler = try fill(wire)
            try withStandardError(wire.far) {
                // Another process that shares the pipe could make this call at any time.
                try #require(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK) == 0)
                for number in 0..<100 { RunLoopDiagnostics.report("report \(number)") }
                #expect(
                    readLines(wire.near, after: filler, count: 100) == (0..<100).map { "report \($0)" })
                DiagnosticQueue.drainProcess(until: .hang)
                #expect(RunLoopDiagnostics.droppedCount == 0)
            }
        }
    }

    @Test func `lines that wait when the program exits are still written`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for number in 0..<200 { RunLoopDiagnostics.report("report \(number)") }
            // After this block the test writes a mark to standard error, and ignores everything behind the mark.
            exit(EXIT_SUCCESS)
        }
        let lines = (result?.message ?? "").split(separator: "\n").filter { $0.hasPrefix("report") }
        #expect(lines == (0..<200).map { "report \($0)" })
    }

    @Test func `a program exits although its standard error is full`() async {
        await #expect(processExitsWith: .success) {
            Child.endThisIfItHangs(seconds: 30)
            let wire = try Wire.pipe()
            _ = try fill(wire)
            try #require(dup2(wire.far, STDERR_FILENO) == STDERR_FILENO)
            RunLoopDiagnostics.report("no process reads this")
            exit(EXIT_SUCCESS)
        }
    }

    // Guarantees: The handler of reports gets them in order, one at a time.
    @Test func `a handler gets the lines in order, one at a time, on a thread of its own`() async throws {
        try await #require(processExitsWith: .success) {
            let lines = Log<String>()
            let edges = Shared()
            let reporter = runloops_thread_id()
            RunLoopDiagnostics.handler = { line in
                let isAlone = edges.increment().isMultiple(of: 2)
                #expect(isAlone && runloops_thread_id() != reporter)
                lines.add(line)
                edges.increment()
            }
            for number in 0..<100 { RunLoopDiagnostics.report("\(number)") }
            DiagnosticQueue.drainProcess(until: .hang)
            #expect(lines.entries == (0..<100).map(String.init))
        }
    }

    @Test func `a handler that blocks delays no thread but its own, and may be replaced meanwhile`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            Child.endThisIfItHangs(seconds: 30)
            let (entered, goOn) = (Gate(), Gate())
            let (first, second) = (Log<String>(), Log<String>())
            RunLoopDiagnostics.handler = { line in
                first.add(line)
                entered.open()
                #expect(goOn.wait())
            }
            RunLoopDiagnostics.report("first")
            #expect(entered.wait())
            RunLoopDiagnostics.handler = { second.add($0) }
            RunLoopDiagnostics.report("second")
            #expect(second.entries == [])
            goOn.open()
            DiagnosticQueue.drainProcess(until: .hang)
            #expect(first.entries == ["first"] && second.entries == ["second"])
        }
    }

    @Test func `a handler may cause reports, set the handler, and use a loop`() async throws {
        try await #require(processExitsWith: .success) {
            let lines = Log<String>()
            let worker = try RunLoopThread(name: "worker")
            RunLoopDiagnostics.handler = { line in
                lines.add(line)
                RunLoopDiagnostics.report("second")
                RunLoopDiagnostics.handler = { line in worker.runLoop.perform { lines.add(line) } }
            }
            RunLoopDiagnostics.report("first")
            waitUntil("both lines came") { lines.entries == ["first", "second"] }
            RunLoopDiagnostics.handler = nil
            #expect(RunLoopDiagnostics.handler == nil)
            worker.stop()
        }
    }

    @Test
    func
        `a handler is destroyed by the thread that replaces it, and its captures may access the handler then`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let canary = AtEnd { #expect(RunLoopDiagnostics.handler == nil) }
            RunLoopDiagnostics.handler = { [canary] _ in withExtendedLifetime(canary) {} }
            _ = consume canary
            RunLoopDiagnostics.handler = nil
        }
    }

    @Test func `a forked child reports nothing, and does not wait at its exit`() async throws {
        try await #require(processExitsWith: .success) {
            let worker = try RunLoopThread(name: "worker")
            let entered = Gate()
            let goOn = Gate()
            RunLoopDiagnostics.handler = { _ in
                entered.open()
                #expect(goOn.wait())
            }
            RunLoopDiagnostics.report("the parent's")
            #expect(entered.wait())
            let child = Child {
                RunLoopDiagnostics.report("the child's")
                DiagnosticQueue.drainProcess(until: .hang)
                return 0
            }
            #expect(child.wait() == .exited(0))
            goOn.open()
            worker.stop()
        }
    }

    @Test func `a warning of libevent is a report, too`() async throws {
        try await #require(processExitsWith: .success) {
            let lines = Log<String>()
            RunLoopDiagnostics.handler = { lines.add($0) }
            let wire = try Wire.pipe()
            try onLoopThread { loop in
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
                var refusals = 0
                source.onWatchRefused { _, _ in refusals += 1 }
                try loop.add(source, forMode: .default)
                // The source is not watched while another mode runs. When its own mode runs again, the kernel is asked to watch it.
                loop.perform(inModes: [.init("other")]) {}
                loop.run(in: .init("other"), until: .now)
                Faults.refusingWatches(ENOSPC) { _ = loop.run(in: .default, until: .now) }
                #expect(refusals == 1)
            }
            DiagnosticQueue.drainProcess(until: .hang)
            #expect(lines.entries.count == 1 && lines.entries[0].hasPrefix("libevent: "))
        }
    }
}

/// Skips a number of bytes, and reads a number of lines.
private func readLines(_ descriptor: CInt, after skipped: Int, count: Int) -> [String] {
    var read: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
        let lines = read.dropFirst(skipped).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if read.count >= skipped, lines.count > count {
            return lines.prefix(count).map { String(decoding: $0, as: UTF8.self) }
        }
        // Safe: the kernel fills a local array.
        let part = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        if part <= 0 { return [] }
        read += buffer.prefix(part)
    }
}

/// An object that calls a closure when it is destroyed.
private final class AtEnd: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}

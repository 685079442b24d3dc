import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Reports of what a loop holds that has never run, when its thread ends.
@Suite struct UnservedTests {
    /// The line before ``fill()``, from which the lines in it are counted; in the body of an exit test, all lines are one.
    private static let line = #line
    private static func fill() throws {
        let loop = RunLoop.current
        let timer = Timer.scheduledTimer(withTimeInterval: .zero, repeats: true) { _ in }
        loop.add(timer, forMode: .common)
        loop.add(RunLoops.Port<Int>(), forMode: .default) { _ in }
        loop.add(ManualSource {}, forMode: .default)
        let pipe = try OwnedDescriptor.pipe()
        try loop.add(
            DescriptorSource(pipe.readingEnd.descriptor, interest: .read) { _, _ in },
            forMode: .default)
        loop.perform {}
        loop.perform(inModes: [.common, .default]) {}
        loop.add(RunLoop.Observer(activities: .entry) { _, _ in }, forMode: .common)
    }

    // Guarantees: When a thread ends whose loop has never run, each place where inputs of the loop were made, and each block, is
    // reported once; of more than eight, the rest is reported as a number.
    @Test func `a thread that ends with inputs that were never served reports each once, with its place`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let place = "UnservedTests.swift:"
            let (line, lines) = (UnservedTests.line, try unservedLines(UnservedTests.fill))
            for (word, offset) in [
                ("timer", 3), ("port", 5), ("source", 6), ("source", 9), ("block", 11), ("block", 12),
            ] {
                let text =
                    "\(word) \(word == "block" ? "performed" : "made") at RunLoopsTests/\(place)\(line + offset)"
                #expect(lines.filter { $0.contains(text + ";") }.count == 1, "\(text): \(lines)")
            }
            #expect(lines.count == 6)
        }
    }

    /// The kinds of inputs that ``fill()`` does not add.
    enum OtherKind: String, Codable, CaseIterable {
        case wallClockTimer, signal, process, library, gracefulStop, delayedBlock

        /// Adds an input of the kind to the current loop.
        ///
        /// - Returns: The word for the kind, and the line.
        fileprivate func add() throws -> (String, Int) {
            let loop = RunLoop.current
            switch self {
            case .wallClockTimer:
                let line = #line + 1
                let timer = WallClockTimer {
                    $0 + .seconds(60)
                } handler: { _ in
                }
                try loop.add(timer, forMode: .common)
                // The loop knows the source of the timer's descriptor.
                return ("source", line)
            case .signal:
                let (source, line) = (try SignalSource(SIGUSR2) { _, _ in }, #line)
                try loop.add(source, forMode: .default)
                return ("source", line)
            case .process:
                let child = Child(shell: "exit 0")
                let (source, line) = (try ProcessSource(child.processID) { _, _ in }, #line)
                try loop.add(source, forMode: .default)
                return ("source", line)
            case .library:
                let (source, line) = (try LibrarySource { _ in }, #line)
                source.deadline = .now
                try loop.add(source, forMode: .default)
                return ("source", line)
            case .gracefulStop:
                let (stop, line) = (
                    try GracefulStop(signals: [SIGUSR1, SIGUSR2], within: .seconds(1)) { _ in }, #line
                )
                for mode in [RunLoop.Mode.default, RunLoop.Mode("other")] {
                    try loop.add(stop, forMode: mode)
                }
                return ("source", line)
            case .delayedBlock:
                // The loop knows the timer of the block.
                let (_, line) = (loop.perform(after: .zero) {}, #line)
                return ("timer", line)
            }
        }
    }

    @Test(arguments: OtherKind.allCases)
    func `an input of each kind that was never served is reported once, with its place`(kind: OtherKind) async
    {
        await #expect(processExitsWith: .success) { [kind] in
            let added = Log<(String, Int)>()
            let lines = try unservedLines { added.add(try kind.add()) }
            let (word, line) = added.entries[0]
            #expect(lines.count == 1, "\(lines)")
            let place = "UnservedTests.swift:\(line);"
            #expect(lines.allSatisfy { $0.contains(word) && $0.contains(place) }, "\(lines)")
        }
    }

    @Test func `a loop that has run, or holds nothing, is not reported`() async throws {
        try await #require(processExitsWith: .success) {
            let lines = try unservedLines {
                let timer = Timer(timeInterval: .seconds(600), repeats: true) { _ in }
                RunLoop.current.add(timer, forMode: .default)
                RunLoop.current.run(in: .default, until: .distantPast)
                RunLoop.current.perform {}
            }
            #expect(lines == [])
            let empty = try unservedLines {
                let timer = Timer(timeInterval: .seconds(600), repeats: true) { _ in }
                RunLoop.current.add(timer, forMode: .default)
                timer.invalidate()
            }
            #expect(empty == [])
            // The thread of a RunLoopThread runs its loop, even if the thread is stopped at once.
            let stopped = try unservedLines {
                for _ in 0..<50 {
                    let thread = try RunLoopThread(name: "stopped")
                    thread.runLoop.perform {}
                    thread.stop()
                    thread.join()
                }
            }
            #expect(stopped == [])
        }
    }

    // Guarantees: When a thread ends whose loop has never run, each place where inputs of the loop were made, and each block, is
    // reported once; of more than eight, the rest is reported as a number.
    @Test func `of many inputs, the first are reported one by one, and the rest as a number`() async throws {
        try await #require(processExitsWith: .success) {
            let lines = try unservedLines {
                for line in 1...20 {
                    for _ in 0..<3 {
                        Timer.scheduledTimer(withTimeInterval: .seconds(1), repeats: true, line: line) { _ in
                        }
                    }
                }
            }
            #expect(lines.count == 9)
            #expect(lines.last?.contains(": 12 more") == true)
        }
    }
}

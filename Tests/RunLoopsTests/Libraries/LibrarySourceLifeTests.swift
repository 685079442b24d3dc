import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The addition and removal of libraries, their modes, and the end of their thread.
@Suite struct LibrarySourceLifeTests {
    private let custom = RunLoop.Mode("custom")

    @Test func `a library is served in its modes only, and what came meanwhile is kept`() throws {
        try onLoopThread { [custom] loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let library = try PipeLibrary()
            library.source.setInterest(.read, of: wire.near)
            try loop.add(library.source, forMode: custom)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            loop.pass(in: custom)
            wire.send()
            loop.add(Port<Int>(), forMode: .default) { _ in }
            let passes = loop.statistics.passes
            #expect(loop.run(in: .default, until: .now + .milliseconds(10)) == .timedOut)
            #expect(loop.statistics.passes - passes < 20)
            #expect(library.calls == [])
            loop.pass(in: custom)
            #expect(library.calls.map(\.descriptors) == [[wire.near]])
            try loop.add(library.source, forMode: .common)
            loop.remove(library.source, forMode: custom)
            wire.send()
            loop.pass()
            #expect(library.calls.count == 2)
            loop.addCommonMode(custom)
            wire.send()
            loop.pass(in: custom)
            #expect(library.calls.count == 3)
            loop.remove(library.source, forMode: .common)
            #expect(loop.run(in: custom, until: .hang) == .finished)
            library.source.invalidate()
        }
    }

    @Test func `a change of mode costs the same for a hundred descriptors as for one`() throws {
        try onLoopThread { [custom] loop in
            let wires = try (0..<100).map { _ in try Wire.pipe() }
            defer { for wire in wires { wire.close() } }
            let library = try PipeLibrary()
            try loop.add(library.source, forMode: .default)
            loop.add(Port<Int>(), forMode: custom) { _ in }
            func cost(_ count: Int) -> Int {
                for wire in wires.prefix(count) { library.source.setInterest(.read, of: wire.near) }
                loop.pass()
                let before = Faults.watchCalls
                loop.pass(in: custom)
                loop.pass()
                return Faults.watchCalls - before
            }
            let one = cost(1)
            #expect(one > 0)
            #expect(cost(100) == one)
            library.source.invalidate()
        }
    }

    @Test func `a library keeps the runs in its modes alive as long as it wants`() throws {
        try onLoopThread { [custom] loop in
            let library = try PipeLibrary()
            library.source.keepsModesAlive = false
            for mode in [RunLoop.Mode.default, custom] { try loop.add(library.source, forMode: mode) }
            library.source.deadline = .now + .milliseconds(1)
            for mode in [RunLoop.Mode.default, custom] {
                #expect(loop.run(in: mode, until: .hang) == .finished)
                #expect(loop.limitDate(forMode: mode) == nil)
            }
            library.source.keepsModesAlive = true
            library.source.keepsModesAlive = true
            library.afterReports = { source in source.keepsModesAlive = false }
            for mode in [RunLoop.Mode.default, custom] {
                library.source.keepsModesAlive = true
                library.source.deadline = .now + .milliseconds(1)
                #expect(loop.run(in: mode, until: .hang) == .finished)
            }
            #expect(library.calls.count == 2)
            // The source keeps each of its modes alive separately.
            library.source.keepsModesAlive = true
            loop.remove(library.source, forMode: custom)
            #expect(loop.run(in: custom, until: .hang) == .finished)
            #expect(loop.run(in: .default, until: .now) == .timedOut)
            library.source.invalidate()
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    @Test func `a library that does not keep its modes alive is served while something else does`() throws {
        try onLoopThread { loop in
            let library = try PipeLibrary()
            library.source.keepsModesAlive = false
            try loop.add(library.source, forMode: .default)
            library.source.deadline = .now + .milliseconds(1)
            loop.add(Port<Int>(), forMode: .default) { _ in }
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(library.calls.count == 1)
            library.source.invalidate()
        }
    }

    @Test func `the loop holds a source until it leaves its last mode`() throws {
        try onLoopThread { [custom] loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let log = Log<String>()
            weak var source: LibrarySource?
            func make() throws {
                let made = try LibrarySource { [canary = Canary { log.add("released") }] source in
                    canary.sing()
                    while source.nextReport() != nil { wire.drain() }
                    log.add("served")
                }
                made.setInterest(.read, of: wire.near)
                for mode in [RunLoop.Mode.default, custom] { try loop.add(made, forMode: mode) }
                source = made
            }
            try make()
            wire.send()
            loop.pass()
            #expect(log.entries == ["served"])
            for mode in [RunLoop.Mode.default, custom] {
                #expect(log.entries == ["served"])
                do { if let source { loop.remove(source, forMode: mode) } }
            }
            #expect(source == nil)
            #expect(log.entries == ["served", "released"])
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    // Guarantees: `onInvalidation` is called once, on the thread of the loop, when the source is invalidated or the thread ends.
    @Test func `invalidated, a source is called no more, and says so once`() throws {
        try onLoopThread { [custom] loop in
            let wires = try (0..<3).map { _ in try Wire.pipe() }
            defer { for wire in wires { wire.close() } }
            for insideService in [false, true] {
                let library = try PipeLibrary()
                for wire in wires {
                    wire.send()
                    library.source.setInterest(.read, of: wire.near)
                }
                library.source.deadline = .now
                library.onReport = { source, _ in if insideService { source.invalidate() } }
                for mode in [RunLoop.Mode.default, custom] { try loop.add(library.source, forMode: mode) }
                if !insideService { library.source.invalidate() }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(loop.run(in: custom, until: .hang) == .finished)
                #expect(library.calls.map(\.reports.count) == (insideService ? [1] : []))
                #expect(library.invalidations == 1)
                library.source.invalidate()
                #expect(library.invalidations == 1)
                #expect(!library.source.isValid)
                // An invalid source ignores all calls.
                library.source.setInterest(.read, of: wires[0].near)
                library.source.deadline = .now
                library.source.keepsModesAlive = true
                #expect(library.source.deadline == nil)
                try loop.add(library.source, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
            }
        }
    }

    // Guarantees: `onInvalidation` is called once, on the thread of the loop, when the source is invalidated or the thread ends.
    @Test func `the end of the thread invalidates a source, on that thread, whichever way it was used`()
        throws
    {
        for use in 0..<4 {
            let log = Log<String>()
            let thread = try RunLoopThread(name: "worker")
            let loop = thread.runLoop
            let wire = try Wire.pipe()
            try loop.performAndWait {
                let source = try LibrarySource(onInvalidation: {
                    log.add(loop.isCurrent ? "invalidated" : "on another thread")
                }) { [canary = Canary { log.add("released") }] _ in canary.sing() }
                if use > 0 { source.setInterest(.read, of: wire.near) }
                if use > 1 { source.deadline = .now + .seconds(100) }
                try loop.add(source, forMode: .default)
                if use > 2 { try loop.add(source, forMode: .common) }
            }
            thread.stop()
            #expect(thread.join())
            #expect(log.entries == ["invalidated", "released"])
            wire.close()
        }
    }

    @Test func `a source and its watch leave no descriptor open, and lacking one is an error`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            try onLoopThread { loop in
                // The first source of a loop opens the loop's own set.
                let first = try LibrarySource { _ in }
                try loop.add(first, forMode: .default)
                let taken = openDescriptors(from: bound)
                #expect(refusal(bound + taken, free: 0) { _ = try LibrarySource { _ in } } == EMFILE)
                #expect(openDescriptors(from: bound) == taken)
                for inLoop in [false, true] {
                    let source = try LibrarySource { _ in }
                    if inLoop { try loop.add(source, forMode: .default) }
                    #expect(openDescriptors(from: bound) == taken + 1)
                    source.invalidate()
                    #expect(openDescriptors(from: bound) == taken)
                }
            }
        }
    }

    @Test func `a source that the kernel refuses to watch is an error that names it, and may be added later`()
        throws
    {
        try onLoopThread { loop in
            let library = try PipeLibrary()
            library.source.deadline = .now
            let error = #expect(throws: SystemError(call: "epoll_ctl", code: ENOSPC)) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(library.source, forMode: .default) }
            }
            #expect(
                "\(String(describing: error))".contains("library source made at RunLoopsTests/PipeLibrary"))
            #expect(loop.run(in: .default, until: .hang) == .finished)
            try loop.add(library.source, forMode: .default)
            loop.pass()
            #expect(library.calls.count == 1)
            library.source.invalidate()
        }
    }

    @Test func `services are timed as handlers of descriptors, with the place where the source was made`()
        throws
    {
        try onLoopThread { loop in
            loop.measuresHandlers = true
            let library = try PipeLibrary()
            library.source.deadline = .now
            try loop.add(library.source, forMode: .default)
            loop.pass()
            #expect(
                loop.statistics.longestHandler?.madeAt.hasPrefix("RunLoopsTests/PipeLibrary.swift:") == true)
            library.source.invalidate()
        }
    }

    @Test func `a source in another loop ends the program, which says what to do`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                // This is safe as far as the misuse is detected: this thread waits for the other one.
                nonisolated(unsafe) let source = try LibrarySource { _ in }
                try unsafe loop.add(source, forMode: .default)
                try onLoopThread { other in try unsafe other.add(source, forMode: .default) }
            }
        }
        expect(
            result, says: "RunLoop.add(source): the library source made at", "is in another loop; remove it")
    }
}

import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Descriptors that a library closes while its source watches them.
///
/// Each test has a process of its own, in which no other test gets the closed numbers.
@Suite struct LibrarySourceClosedTests {
    // Guarantees: A descriptor that the library closes while it is watched does not end the program.
    @Test func `a descriptor that is closed without a word ends nothing, and its number may be used again`()
        async
    {
        await #expect(processExitsWith: .success) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let library = try PipeLibrary()
                try loop.add(library.source, forMode: .default)
                let other = try Wire.pipe()
                library.source.setInterest(.read, of: other.near)
                for changed: DescriptorSource.Interest in [[], .read, .write] {
                    let wire = try Wire.pipe()
                    library.source.setInterest(.read, of: wire.near)
                    loop.pass()
                    close(wire.near)
                    if !changed.isEmpty { library.source.setInterest(changed, of: wire.near) }
                    let passes = loop.statistics.passes
                    #expect(loop.run(in: .default, until: .now + .milliseconds(5)) == .timedOut)
                    #expect(loop.statistics.passes - passes < 10)
                    // Only a changed interest reaches the kernel, which then reports that the number is closed.
                    let calls = library.calls.flatMap(\.reports)
                    #expect(calls.map(\.readiness) == (changed == .write ? [.error] : []))
                    library.calls = []
                    let next = try Wire.pipe()
                    #expect(dup2(next.near, wire.near) == wire.near)
                    library.source.setInterest([], of: wire.near)
                    library.source.setInterest(.read, of: wire.near)
                    next.send()
                    other.send()
                    loop.pass()
                    #expect(library.calls.map(\.descriptors) == [[wire.near, other.near].sorted()])
                    library.source.setInterest([], of: wire.near)
                    library.calls = []
                }
            }
        }
    }

    // Guarantees: If a copy of a closed descriptor is open, the descriptor is no longer reported after its interest was set to
    // empty, and does not keep the loop awake.
    @Test(arguments: [false, true])
    func `a closed descriptor that lives on in a copy is not reported, does not spin, and disturbs no other`(
        isReused: Bool
    ) async {
        await #expect(processExitsWith: .success) { [isReused] in
            try warmUpRuntime()
            try onLoopThread { loop in
                let library = try PipeLibrary()
                try loop.add(library.source, forMode: .default)
                let (wire, other, silent, next) = (
                    try Wire.pipe(), try Wire.pipe(), try Wire.pipe(), try Wire.pipe()
                )
                for wire in [wire, other, silent] { library.source.setInterest(.read, of: wire.near) }
                loop.pass()
                _ = dup(wire.near)
                library.source.setInterest([], of: wire.near)
                close(wire.near)
                // A number that is closed silently is forgotten when the set is rebuilt.
                close(silent.near)
                if isReused {
                    #expect(dup2(next.near, wire.near) == wire.near)
                    library.source.setInterest(.read, of: wire.near)
                }
                wire.send()
                let passes = loop.statistics.passes
                #expect(loop.run(in: .default, until: .now + .milliseconds(20)) == .timedOut)
                #expect(loop.statistics.passes - passes < 20)
                #expect(library.calls == [])
                library.source.deadline = .now + .milliseconds(1)
                other.send()
                next.send()
                #expect(loop.run(in: .default, until: .now + .milliseconds(20)) == .timedOut)
                let reported = Set(library.calls.flatMap(\.descriptors))
                #expect(reported == (isReused ? [other.near, wire.near] : [other.near]))
                #expect(library.calls.count { $0.isDue } == 1)
                library.source.invalidate()
                #expect(loop.run(in: .default, until: .hang) == .finished)
            }
        }
    }

    @Test func `a set that is to be made anew while the service runs is made when it has returned`() async {
        await #expect(processExitsWith: .success) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let library = try PipeLibrary()
                try loop.add(library.source, forMode: .default)
                let (wire, other) = (try Wire.pipe(), try Wire.pipe())
                for wire in [wire, other] { library.source.setInterest(.read, of: wire.near) }
                loop.pass()
                _ = dup(wire.near)
                library.source.setInterest([], of: wire.near)
                close(wire.near)
                for wire in [wire, other] { wire.send() }
                library.afterReports = { _ in
                    other.send()
                    let passes = loop.statistics.passes
                    #expect(loop.run(in: .default, until: .now + .milliseconds(10)) == .timedOut)
                    #expect(loop.statistics.passes - passes < 20)
                    library.afterReports = { _ in }
                }
                for _ in 0..<2 {
                    let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                    #expect(result == .handledSource)
                }
                #expect(library.calls.map(\.descriptors) == [[other.near], [other.near]])
                let passes = loop.statistics.passes
                #expect(loop.run(in: .default, until: .now + .milliseconds(5)) == .timedOut)
                #expect(loop.statistics.passes - passes < 10)
            }
        }
    }

    // Guarantees: If a copy of a closed descriptor is open, the descriptor is no longer reported after its interest was set to
    // empty, and does not keep the loop awake.
    @Test func `a new set that the kernel refuses is tried again, and nothing is lost`() async {
        await #expect(processExitsWith: .success) {
            try warmUpRuntime()
            try onLoopThread { loop in
                loop.waitPolicy = .park
                let custom = RunLoop.Mode("custom")
                let library = try PipeLibrary()
                try loop.add(library.source, forMode: .default)
                let (wire, other) = (try Wire.pipe(), try Wire.pipe())
                for wire in [wire, other] { library.source.setInterest(.read, of: wire.near) }
                loop.pass()
                for round in 0..<3 {
                    let copy = dup(wire.near)
                    library.source.setInterest([], of: wire.near)
                    loop.pass()
                    library.source.setInterest(.read, of: copy)
                    loop.pass()
                    _ = dup(copy)
                    library.source.setInterest([], of: copy)
                    close(copy)
                    wire.send()
                    Faults.refusingWatches(ENOSPC) {
                        let passes = loop.statistics.passes
                        #expect(loop.run(in: .default, until: .now + .milliseconds(10)) == .timedOut)
                        #expect(loop.statistics.passes - passes < 30)
                        if round > 0 { other.send() }
                        library.source.deadline = .now
                        loop.pass()
                        #expect(library.calls == [])
                    }
                    // Meanwhile the source can be added, removed and ended.
                    if round == 1 { try loop.add(library.source, forMode: custom) }
                    if round == 2 {
                        loop.remove(library.source, forMode: .default)
                        #expect(loop.run(in: .default, until: .hang) == .finished)
                    }
                    let result = loop.run(
                        in: round == 2 ? custom : .default, until: .hang, returnAfterSourceHandled: true)
                    #expect(result == .handledSource)
                    #expect(library.calls.map(\.descriptors) == [round > 0 ? [other.near] : []])
                    #expect(library.calls.map(\.isDue) == [true])
                    library.calls = []
                    wire.drain()
                    if round < 2 { library.source.setInterest(.read, of: wire.near) }
                }
                loop.remove(library.source, forMode: custom)
                #expect(loop.run(in: custom, until: .hang) == .finished)
            }
        }
    }

    @Test func `a set is made anew in a process that has no descriptor left`() async {
        await #expect(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            try onLoopThread { loop in
                let library = try PipeLibrary()
                try loop.add(library.source, forMode: .default)
                let (wire, other) = (try Wire.pipe(), try Wire.pipe())
                for wire in [wire, other] { library.source.setInterest(.read, of: wire.near) }
                loop.pass()
                let copy = dup(wire.near)
                library.source.setInterest([], of: wire.near)
                close(wire.near)
                wire.send()
                let taken = openDescriptors(from: bound)
                fillDescriptors(below: bound + taken)
                let refused = refusal(bound + taken, free: 0) {
                    for _ in 0..<3 { loop.pass() }
                    other.send()
                    loop.pass()
                }
                #expect(refused == nil)
                #expect(library.calls.map(\.descriptors) == [[other.near]])
                close(copy)
                library.source.invalidate()
            }
        }
    }
}

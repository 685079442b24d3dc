import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Any thread can end an object that belongs to a loop.
///
/// The tests of this suite use the same signals, so they run one after the other.
@Suite(.serialized) struct EndTests {
    /// The ways in which another thread ends an object.
    enum Way: String, Codable, CaseIterable {
        case thread, deinitializer, otherLoop, severalThreads

        func end(_ specimen: Specimen) throws {
            switch self {
            case .thread: try BareThread { specimen.end() }.join()
            case .deinitializer:
                try BareThread {
                    let owner = Parting { specimen.end() }
                    owner.hold()
                }.join()
            case .otherLoop:
                let other = try RunLoopThread(name: "other")
                try other.runLoop.performAndWait { specimen.end() }
                other.stop()
            case .severalThreads: try Threads(4) { _ in specimen.end() }.join()
            }
        }
    }

    // Guarantees: The handler of an object in a loop is released once, on the thread of the loop, whichever thread ends the object.
    @Test(arguments: Specimen.Kind.allCases, Way.allCases)
    func `an end elsewhere wakes the loop, whose thread releases the handler`(
        kind: Specimen.Kind, way: Way
    ) throws {
        let stage = try SpecimenStage(kind)
        try way.end(stage.specimen)
        #expect(!stage.specimen.isValid())
        #expect(stage.isReleased.wait())
        #expect(stage.releases.entries == [true])
        stage.stop()
        #expect(stage.releases.entries == [true])
    }

    // Guarantees: After an end on any thread has returned, no call of the object's handlers begins, except the report of the end.
    @Test(arguments: Specimen.Kind.allCases, Way.allCases)
    func `no call begins after an end elsewhere has returned, even if the object is due`(
        kind: Specimen.Kind, way: Way
    ) throws {
        let stage = try SpecimenStage(kind)
        var calls = 0
        try stage.whileItIsDue {
            calls = stage.calls.count
            try way.end(stage.specimen)
        }
        try stage.pass()
        stage.stop()
        #expect(stage.calls.count == calls)
        #expect(stage.releases.entries == [true])
    }

    // Guarantees: After an end on any thread has returned, no call of the object's handlers begins, except the report of the end.
    @Test(arguments: Specimen.Kind.allCases)
    func `an end in a handler of the loop takes effect at once`(kind: Specimen.Kind) throws {
        let stage = try SpecimenStage(kind)
        let outcome = try stage.thread.runLoop.performAndWait { [stage] in
            let calls = stage.calls.count
            stage.specimen.provoke()
            stage.specimen.end()
            return (calls, stage.releases.entries)
        }
        #expect(outcome.1 == [true])
        try stage.pass()
        stage.stop()
        #expect(stage.calls.count == outcome.0)
    }

    @Test(arguments: Specimen.Kind.allCases)
    func `an end in the object's own handler makes that call the last one`(kind: Specimen.Kind) throws {
        let stage = try SpecimenStage(kind) { $0.end() }
        try stage.whileItIsDue {}
        if kind == .endHandler { stage.thread.stop() }
        #expect(stage.isReleased.wait())
        stage.specimen.provoke()
        if kind != .endHandler { try stage.pass() }
        stage.stop()
        #expect(stage.calls.count == 1)
        #expect(stage.releases.entries == [true])
    }

    @Test(arguments: [Specimen.Kind.timer, .descriptor, .manual, .library])
    func `of two objects that are due in one step, the first can have another thread end the second`(
        kind: Specimen.Kind
    ) throws {
        try onLoopThread { loop in
            let (calls, pair) = (Shared(), Log<Specimen>())
            for index in 0..<2 {
                pair.add(
                    try Specimen.make(kind, in: loop) {
                        calls.increment()
                        let both = pair.entries
                        both[index].end()
                        do { try BareThread { both[1 - index].end() }.join() } catch { Issue.record(error) }
                    })
            }
            for specimen in pair.entries { specimen.provoke() }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(calls.count == 1)
            for specimen in pair.entries { specimen.clean() }
        }
    }

    // Guarantees: The handler of an object in a loop is released once, on the thread of the loop, whichever thread ends the object.
    @Test(arguments: Specimen.Kind.allCases)
    func `an end beside the end of the loop releases the handler once`(kind: Specimen.Kind) throws {
        for _ in 0..<20 {
            let stage = try SpecimenStage(kind)
            let ending = try BareThread { [specimen = stage.specimen] in specimen.end() }
            stage.stop()
            ending.join()
            // A manual source and a graceful stop survive their loop. If they end later, the other thread releases the handler.
            let isOnLoop = stage.releases.entries
            let survives = kind == .manual || kind == .gracefulStop
            #expect(survives ? isOnLoop.count == 1 : isOnLoop == [true])
        }
    }

    @Test(arguments: Specimen.Kind.allCases)
    func `an end after the end of the loop takes effect on the calling thread`(kind: Specimen.Kind) throws {
        let stage = try SpecimenStage(kind)
        if kind != .endHandler {
            try stage.thread.runLoop.performAndWait { [stage] in stage.specimen.remove() }
        }
        stage.stop()
        try BareThread { [specimen = stage.specimen] in specimen.end() }.join()
        #expect(stage.releases.entries == [kind == .endHandler])
    }

    // Guarantees: An end in a forked child calls no handler, and the parent's object continues to work.
    @Test(arguments: Specimen.Kind.allCases, [true, false])
    func `an end in a forked child releases the child's copies, and the parent's object works on`(
        kind: Specimen.Kind, isOnLoopThread: Bool
    ) async {
        await #expect(processExitsWith: .success) { [kind, isOnLoopThread] in
            let stage = try SpecimenStage(kind)
            let fork: @Sendable () -> Child.Ending = { [stage] in
                Child {
                    stage.specimen.end()
                    if stage.specimen.isValid() { return 1 }
                    return stage.releases.entries.count == 1 ? 0 : 2
                }.wait()
            }
            if isOnLoopThread {
                #expect(try await stage.thread.runLoop.performAndWait(fork) == .exited(0))
            } else {
                try await stage.thread.runLoop.performAndWait {}
                try BareThread { #expect(fork() == .exited(0)) }.join()
            }
            #expect(stage.releases.entries == [])
            let calls = stage.calls.count
            if kind == .endHandler { stage.thread.stop() }
            stage.specimen.provoke()
            waitUntil("the parent's handler is called") { stage.calls.count > calls }
            stage.stop()
        }
    }

    @Test func `owners that are destroyed on other threads end their timers`() throws {
        let thread = try RunLoopThread(name: "timers")
        let releases = Log<Bool>()
        try Threads(3) { _ in
            for _ in 0..<100 {
                let owner = try thread.runLoop.performAndWait { Passed(TimerOwner(releases)) }
                withExtendedLifetime(owner) {}
            }
        }.join()
        waitUntil("all handlers are released") { releases.entries.count == 300 }
        thread.stop()
        thread.join()
        #expect(releases.entries.allSatisfy { $0 })
    }

    @Test func `a run finishes when another thread ends its last input`() throws {
        try onLoopThread { loop in
            nonisolated(unsafe) let timer = Timer(timeInterval: .seconds(600), repeats: true) { _ in }
            loop.add(unsafe timer, forMode: .default)
            let ending = try BareThread { unsafe timer.invalidate() }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            ending.join()
            // A timer that was ended between two runs keeps no mode alive.
            nonisolated(unsafe) let other = Timer(timeInterval: .seconds(600), repeats: true) { _ in }
            loop.add(unsafe other, forMode: .default)
            try BareThread { unsafe other.invalidate() }.join()
            #expect(loop.limitDate(forMode: .default) == nil)
            #expect(!loop.run(mode: .default, before: .hang))
        }
    }
}

/// Carries an object that is not `Sendable` to the one thread that uses it next.
private struct Passed<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// An object with a timer of the current loop, which it ends when it is destroyed.
private final class TimerOwner {
    private var timer: Timer?
    private var ticks = 0

    init(_ releases: Log<Bool>) {
        let loop = RunLoop.current
        let parting = Parting { releases.add(loop.isCurrent) }
        timer = Timer.scheduledTimer(withTimeInterval: .zero, repeats: true) { [weak self] _ in
            parting.hold()
            self?.ticks += 1
        }
    }

    deinit { timer?.invalidate() }
}

import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// A forked child cannot use its parent's loops, and does not harm its parent.
///
/// Each test has a process of its own, which forks.
@Suite struct ForkTests {
    // Guarantees: A forked child that uses a loop ends with a message.
    @Test(arguments: LoopUse.allCases) func `a forked child that uses a loop ends with a message`(
        use: LoopUse
    )
        async
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [use] in
            let ending = try onLoopThread { loop in
                let inherited = try Inherited(loop)
                return Child {
                    use.happen(inherited)
                    return 0
                }.wait()
            }
            #expect(ending.isTrap)
        }
        expect(
            result,
            says: "\(use.rawValue): used in a forked child, where no loop works; ",
            "call exec there, or fork before the parent makes its first loop")
    }

    @Test func `a thread of a forked child gets no loop of its own either`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let parents = try RunLoopThread(name: "parent's")
            defer { parents.stop() }
            // This thread has no loop when it forks.
            try BareThread {
                let ending = Child {
                    _ = RunLoop.current
                    return 0
                }.wait()
                #expect(ending.isTrap)
            }.join()
        }
        expect(result, says: "RunLoop.current: used in a forked child")
    }

    @Test func `a handler that forks does not go on with its run in the child`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let ends = Log<Child.Ending>()
            try onLoopThread { loop in
                loop.perform {
                    let child = Child.fork()
                    // In the child, the block returns into the loop.
                    if let child { ends.add(child.wait()) }
                }
                #expect(loop.run(in: .default, until: .hang) == .finished)
            }
            #expect(ends.entries.count == 1 && ends.entries[0].isTrap)
        }
        expect(result, says: "RunLoop.run: used in a forked child")
    }

    @Test func `a forked child may exit, call exec, or end its thread`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                defer { wire.close() }
                var received = 0
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in received += wire.drain() }
                try loop.add(source, forMode: .default)
                for leave in Departure.possible {
                    #expect(Child { leave.happen() }.wait() == .exited(leave.code))
                    // The child's copies of the objects were released. The parent's objects still work.
                    wire.send()
                    let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                    #expect(result == .handledSource)
                    try RunLoopThread(name: "later").stop()
                }
                #expect(received == Departure.possible.count)
            }
        }
    }

    @Test func `a process that forks before its first loop has loops on both sides`() async throws {
        try await #require(processExitsWith: .success) {
            let ending = Child {
                // The only thread of the child is its main thread.
                RunLoop.current.perform { RunLoop.main.stop() }
                guard RunLoop.current.run(in: .default, until: .hang) == .stopped else { return 1 }
                // This process now has loops, so its own children must not use them.
                return Child {
                    RunLoop.current.perform {}
                    return 0
                }.wait().isTrap ? 7 : 2
            }.wait()
            #expect(ending == .exited(7))
            try onLoopThread { loop in
                loop.perform {}
                #expect(loop.run(in: .default, until: .hang) == .finished)
            }
        }
    }
}

extension Child.Ending {
    /// True if the process has ended with a message.
    var isTrap: Bool { self == .killed(SIGILL) || self == .killed(SIGTRAP) || self == .killed(SIGABRT) }
}

/// The ways in which a child can end without using a loop.
private enum Departure: CaseIterable {
    case exit, exec, endOfThread

    /// The ways that the tests can use: a sanitizer's own work at the end of a thread does not survive a fork.
    static var possible: [Departure] { allCases.filter { Allocations.areCounted || $0 != .endOfThread } }

    var code: CInt { self == .exit ? 3 : 0 }

    func happen() -> CInt {
        switch self {
        case .exit: return 3
        case .exec: Child.exec("exit 0")
        // The thread-specific data are destroyed, and the process ends with its last thread.
        case .endOfThread: Child.endThread()
        }
    }
}

/// The objects of a parent that its child uses.
private struct Inherited {
    let own: RunLoop
    let other: RunLoopThread
    let port = Port<Int>()
    let signals = Port<Void>()
    let manual = ManualSource {}
    let timer = Timer(timeInterval: .seconds(60), repeats: true) { _ in }

    init(_ loop: RunLoop) throws {
        own = loop
        other = try RunLoopThread(name: "other")
        loop.add(port, forMode: .default) { _ in }
        loop.add(signals, forMode: .default) {}
        loop.add(manual, forMode: .default)
        loop.add(timer, forMode: .default)
        // No thread is in the middle of an operation when the process forks.
        try other.runLoop.performAndWait {}
    }
}

/// The uses of a loop, with the member that the message names.
enum LoopUse: String, Codable, CaseIterable {
    case current = "RunLoop.current"
    case perform = "RunLoop.perform"
    case run = "RunLoop.run"
    case add = "RunLoop.add(timer)"
    case wakeUp = "RunLoop.wakeUp"
    case send = "Port.send"
    case signal = "ManualSource.signal"

    fileprivate func happen(_ inherited: Inherited) {
        switch self {
        case .current: _ = RunLoop.current
        case .perform: inherited.own.perform {}
        case .run: inherited.own.run(until: .now)
        case .add: inherited.own.add(inherited.timer, forMode: .default)
        case .wakeUp: inherited.own.wakeUp()
        case .send: do { try inherited.port.send(1) } catch { Issue.record(error) }
        case .signal: inherited.manual.signal()
        }
    }
}

/// Further uses of the same members.
@Suite struct OtherForkTests {
    // Guarantees: A forked child that uses a loop ends with a message.
    @Test(arguments: OtherUse.allCases) func `a child that uses a loop in another way ends too`(use: OtherUse)
        async
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [use] in
            let ending = try onLoopThread { loop in
                let inherited = try Inherited(loop)
                return Child {
                    do { try use.happen(inherited) } catch { return 1 }
                    return 0
                }.wait()
            }
            #expect(ending.isTrap)
        }
        expect(result, says: ": used in a forked child, where no loop works; ")
    }

    @Test(arguments: [OtherUse.performAndWait, .joinThread])
    func `a forked child that would wait ends, even if another thread was about to wait at the fork`(
        use: OtherUse
    ) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [use] in
            try onLoopThread { loop in
                let inherited = try Inherited(loop)
                let (isHeld, isOver) = (Gate(), Gate())
                let other = try BareThread {
                    ThreadWait.graph.withLock { _ in
                        isHeld.open()
                        #expect(isOver.wait())
                    }
                }
                #expect(isHeld.wait())
                let ending = Child {
                    Child.endThisIfItHangs()
                    do { try use.happen(inherited) } catch { return 1 }
                    return 0
                }.wait()
                isOver.open()
                other.join()
                #expect(ending.isTrap)
            }
        }
        expect(result, says: ": used in a forked child, where no loop works; ")
    }

    @Test func `the thread that forks is the main thread of the child`() async {
        await #expect(processExitsWith: .success) {
            try BareThread {
                #expect(ThreadWait.heldTargetsHere() == [])
                let ending = Child { ThreadWait.heldTargetsHere() == [.mainLoop] ? 0 : 1 }.wait()
                #expect(ending == .exited(0))
                #expect(ThreadWait.heldTargetsHere() == [])
            }.join()
        }
    }

    /// Further uses of a loop in a forked child.
    enum OtherUse: String, Codable, CaseIterable {
        case performElsewhere, performSeveral, performInModes, performLater, performAndWait,
            performAndWaitHere
        case mainLoop, makeCurrent, signalPort, sendSeveral, joinThread, newThread, guest

        fileprivate func happen(_ inherited: Inherited) throws {
            let loop = inherited.other.runLoop
            switch self {
            case .performElsewhere: loop.perform {}
            case .performSeveral: loop.perform(contentsOf: [{ @Sendable in }])
            case .performInModes: inherited.own.perform(inModes: [.default]) {}
            case .performLater: loop.perform(after: .zero) {}
            case .performAndWait: try loop.performAndWait {}
            case .performAndWaitHere: try inherited.own.performAndWait {}
            case .mainLoop: RunLoop.main.perform {}
            case .makeCurrent: _ = try RunLoop.makeCurrent()
            case .signalPort: try inherited.signals.send()
            case .sendSeveral: try inherited.port.send(contentsOf: [1, 2])
            case .joinThread: inherited.other.join()
            case .guest: _ = try RunLoop.Guest()
            case .newThread: _ = try RunLoopThread(name: "child's")
            }
        }
    }
}

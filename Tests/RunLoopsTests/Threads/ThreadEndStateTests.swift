import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Threads that do not return from their loop: a handler ends them by `pthread_exit`, or another thread cancels them.
///
/// A wait for such a thread, or for its loop, must end. Each test has a process of its own, because the references on the stack of
/// such a thread are never released.
@Suite struct ThreadEndStateTests {
    /// The state in which a thread ends.
    enum State: String, CaseIterable, Codable {
        case block, timer, source, port, descriptor, observer, nestedRun, awaitedBlock, asleep,
            asleepInNestedRun
    }

    /// The states that a sanitizer supports: the thread sanitizer does not support the cancellation of threads.
    static let states = State.allCases.filter { Faults.bearCancelling || !isCancelled($0) }

    private static func isCancelled(_ state: State) -> Bool {
        state == .asleep || state == .asleepInNestedRun
    }

    // Guarantees: A wait for a block returns when the loop ends, and a wait for a thread returns when the thread ends, even if a
    // handler ends the thread by `pthread_exit`, or other code cancels it.
    @Test(arguments: states)
    func `waits for a thread or its loop end, in any state that the thread ends in`(state: State) async {
        await #expect(processExitsWith: .success) { [state] in try play(state) }
    }

    @Test(arguments: states)
    func `a joined thread has closed its descriptors, in any state that it ended in`(
        state: State
    ) async {
        await #expect(processExitsWith: .success) { [state] in
            let bound = try boundOfDescriptors()
            fillDescriptors(below: bound)
            try end(state, countingFrom: bound)
        }
    }

    // Guarantees: A thread that is cancelled while its loop sleeps ends at once.
    @Test
    func `a thread that was cancelled while it slept is not counted as awake, nor one that a handler ended`()
        async
    {
        await #expect(processExitsWith: .success) {
            try endThreads(ThreadEndStateTests.states)
            #expect(Waiting.awakeLoopCount == 0)
        }
    }

    /// The wait in which a thread is cancelled.
    enum Wait: String, CaseIterable, Codable {
        case performAndWait, join
    }

    // Not with the address sanitizer, which can mistake frames that the cancellation has left for frames in use.
    // Guarantees: A thread is not cancelled while it waits for another thread or at a ``PortSet``, or while it wakes a loop: the
    // cancellation takes effect afterwards.
    @Test(arguments: Faults.bearCancelling && !Faults.areSlow ? Wait.allCases : [])
    func `a thread cancelled while it waits for another hangs no thread, and ends in its sleep`(
        wait: Wait
    ) async {
        await #expect(processExitsWith: .success) { [wait] in try cancel(in: wait) }
    }

    // Guarantees: A thread is not cancelled while it waits for another thread or at a ``PortSet``, or while it wakes a loop: the
    // cancellation takes effect afterwards.
    @Test(.enabled(if: Faults.bearCancelling))
    func `a thread with a pending cancellation still wakes a loop`() async {
        await #expect(processExitsWith: .success) { try postWhileCancelled() }
    }

    // Guarantees: Any runs of the loop in the thread's end handlers then return at once.
    @Test(arguments: Faults.bearCancelling ? [State.asleep, .asleepInNestedRun] : [])
    func `an end handler of a thread that was cancelled in its sleep may run the loop, which returns at once`(
        state: State
    ) async {
        await #expect(processExitsWith: .success) { [state] in try runAtTheEnd(of: state) }
    }
}

/// Ends a thread, and checks that its loop's descriptors are closed after the join.
private func end(_ state: ThreadEndStateTests.State, countingFrom bound: Int) throws {
    let thread = try RunLoopThread(name: "short")
    let loop = thread.runLoop
    try loop.performAndWait { RunLoop.current.waitPolicy = .park }
    try bringToItsEnd(thread, state, Gate())
    #expect(thread.join(before: .hang))
    // The references on the thread's stack keep the pipe open for ever.
    #expect(openDescriptors(from: bound) == (state == .descriptor ? 2 : 0))
    withExtendedLifetime((thread, loop)) {}
}

/// Has a thread with a pending cancellation perform a block on a sleeping loop.
private func postWhileCancelled() throws {
    let target = try RunLoopThread(name: "asleep")
    try target.runLoop.performAndWait { RunLoop.current.waitPolicy = .park }
    waitUntilAsleep(target.runLoop)
    let hasRun = Gate()
    let poster = try BareThread {
        // The thread would end at its next call that can block, such as the write of a wake-up.
        pthread_cancel(pthread_self())
        target.runLoop.perform { hasRun.open() }
    }
    #expect(hasRun.wait())
    poster.join()
}

/// Cancels a thread while its loop sleeps, and runs the loop once more at the thread's end.
private func runAtTheEnd(of state: ThreadEndStateTests.State) throws {
    let thread = try RunLoopThread(name: "short")
    let results = Log<RunLoop.RunResult>()
    try thread.runLoop.performAndWait {
        let loop = RunLoop.current
        loop.waitPolicy = .park
        loop.addEndHandler {
            loop.perform { results.add(.handledSource) }
            results.add(loop.run(in: .default, until: .hang))
        }
    }
    try bringToItsEnd(thread, state, Gate())
    #expect(thread.join(before: .hang))
    #expect(results.entries == [.stopped])
}

/// Cancels a thread while it waits for another thread, which continues.
private func cancel(in wait: ThreadEndStateTests.Wait) throws {
    let (waiting, other) = (try RunLoopThread(name: "waiting"), try RunLoopThread(name: "other"))
    let handle = try waiting.runLoop.performAndWait { Handle(thread: pthread_self()) }
    let goesOn = Gate()
    other.runLoop.perform { #expect(goesOn.wait()) }
    waiting.runLoop.perform {
        switch wait {
        case .performAndWait: do { try other.runLoop.performAndWait {} } catch { Issue.record(error) }
        case .join: other.join()
        }
    }
    waitUntil("it waits") { ThreadWait.graph.withLock { !$0.isEmpty } }
    pthread_cancel(handle.thread)
    if wait == .join { other.stop() }
    goesOn.open()
    if wait == .performAndWait { try other.runLoop.performAndWait(before: .hang) {} }
    other.stop()
    #expect(other.join(before: .hang))
    #expect(waiting.join(before: .hang))
    #expect(ThreadWait.graph.withLock { $0.isEmpty })
}

/// Ends a thread in a state, while other threads wait for the thread, for its loop, and for a port in the loop.
private func play(_ state: ThreadEndStateTests.State) throws {
    let thread = try RunLoopThread(name: "short")
    let loop = thread.runLoop
    let (gone, ends) = (Gate(), Gate())
    let full = Port<Int>(queueLimit: 1)
    try loop.performAndWait {
        RunLoop.current.waitPolicy = .park
        RunLoop.current.add(full, forMode: .init("never run")) { _ in }
    }
    try full.send(0)
    loop.perform(inModes: [.init("never run")]) { [canary = Canary(gone)] in canary.sing() }
    let waiters = try waitFor(loop, full, when: ends)

    try bringToItsEnd(thread, state, ends)
    #expect(thread.join(before: .hang))
    #expect(gone.wait())
    #expect(!loop.perform {})
    #expect(throws: PerformError(.loopEnded)) { try loop.performAndWait {} }
    // The port outlives the loop, and the senders still wait for room in it.
    full.invalidate()
    for waiter in waiters { waiter.join() }
}

private func endThreads(_ states: [ThreadEndStateTests.State]) throws {
    for state in states {
        for _ in 0..<3 {
            let thread = try RunLoopThread(name: "short")
            try thread.runLoop.performAndWait { RunLoop.current.waitPolicy = .park }
            try bringToItsEnd(thread, state, Gate())
            #expect(thread.join(before: .hang))
        }
    }
}

/// Starts threads that wait for a loop, and for room in a port.
private func waitFor(_ loop: RunLoop, _ port: Port<Int>, when begins: Gate) throws -> [BareThread] {
    let performer = try BareThread {
        #expect(begins.wait())
        // The loop has accepted the block, or has ended.
        #expect(throws: PerformError(.loopEnded)) {
            try loop.performAndWait(inModes: [.init("never run")]) {}
        }
    }
    let sender = try BareThread {
        do { try port.send(1) } catch { #expect((error as? PortSendError<Int>)?.reason == .invalid) }
    }
    return [performer, sender]
}

/// Ends a thread in a state.
private func bringToItsEnd(_ thread: RunLoopThread, _ state: ThreadEndStateTests.State, _ ends: Gate) throws {
    let end: @Sendable () -> Void = {
        ends.open()
        Child.endThread()
    }
    let loop = thread.runLoop
    switch state {
    case .block: loop.perform(end)
    case .timer: loop.perform { Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in end() } }
    case .source:
        loop.perform {
            let source = ManualSource(handler: end)
            RunLoop.current.add(source, forMode: .default)
            source.signal()
        }
    case .port:
        let port = Port<Int>()
        loop.perform { RunLoop.current.add(port, forMode: .default) { _ in end() } }
        try port.send(1)
    case .descriptor:
        let pipe = ReadablePipe()
        loop.perform {
            let source = DescriptorSource(pipe.readingEnd, interest: .read) { _, _ in
                withExtendedLifetime(pipe) { end() }
            }
            do { try RunLoop.current.add(source, forMode: .default) } catch { Issue.record(error) }
            pipe.fill()
        }
    case .observer:
        loop.perform {
            RunLoop.current.add(
                RunLoop.Observer(activities: .beforeWaiting) { _, _ in end() }, forMode: .default)
        }
    case .nestedRun:
        loop.perform {
            RunLoop.current.perform(end)
            RunLoop.current.run(in: .default, until: .hang)
        }
    case .awaitedBlock:
        #expect(throws: PerformError(.loopEnded)) { try loop.performAndWait(end) }
    case .asleep, .asleepInNestedRun:
        let handle = try loop.performAndWait { Handle(thread: pthread_self()) }
        if state == .asleepInNestedRun {
            loop.perform { RunLoop.current.run(in: .default, until: .hang) }
        }
        waitUntilAsleep(loop)
        ends.open()
        pthread_cancel(handle.thread)
    }
}

private struct Handle: Sendable {
    let thread: pthread_t
}

import Glibc
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoop
import class RunLoops.Timer

@testable import RunLoops

/// If a signal interrupts a system call, the call is repeated, and no caller gets an error.
///
/// The tests cover all calls that can be interrupted according to their manual pages, even those that this kernel restarts: a file
/// system in user space, or a supervisor of the process, can interrupt them.
@Suite struct InterruptedCallTests {
    @Test func `an interrupted loop goes on sleeping, and an interrupted poll is repeated`() throws {
        try onLoopThread { loop in
            loop.waitPolicy = .park
            // A delayed thread finds its timer due, and does not sleep.
            let sleeps = isSeenOnce {
                let start = ContinuousClock.now
                var fires = 0
                loop.add(
                    Timer(timeInterval: .milliseconds(5), repeats: false) { _ in fires += 1 },
                    forMode: .default)
                Faults.interrupt(.epollWait)
                defer { Faults.interrupt(.epollWait, times: 0) }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(fires == 1 && .now - start >= .milliseconds(5))
                return Faults.interruptionsLeft(.epollWait) == 0
            }
            #expect(sleeps)
        }
    }

    @Test func `a loop is woken`() throws {
        let wakeup = try Wakeup()
        interrupted(.write) { wakeup.signal() }
        #expect(isReady(wakeup.descriptor, POLLIN))
    }

    @Test func `a descriptor's readiness is asked for again`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var readiness: DescriptorSource.Readiness?
            // The edge is reported once. A level-triggered descriptor would be polled in the next pass.
            let source = DescriptorSource(wire.near, interest: .read, trigger: .edge) { source, seen in
                readiness = seen
                source.invalidate()
            }
            try loop.add(source, forMode: .default)
            wire.send()
            // The end of a pipe can stand for an error, so the loop polls the descriptor.
            wire.close(wire.far)
            #expect(Wire.otherEndCloses(of: wire.near))
            #expect(interrupted(.poll) { loop.run(in: .default, until: .hang) } == .finished)
            #expect(readiness == [.readable, .hangUp])
        }
    }

    @Test func `a child's status is asked for again`() throws {
        let child = Child(shell: "exit 7")
        let process = try interrupted(.waitid) { try ProcessDescriptor(child.processID) }
        waitUntil("the child has ended") { isReady(process.descriptor, POLLIN) }
        #expect(interrupted(.waitid) { process.takeEnding() } == .exited(7))
    }

    // MARK: - Signals

    @Test func `a signal that interrupts its own handler is written down whole, and read`() async throws {
        try await #require(processExitsWith: .success) {
            let signal = try CaughtSignal(SIGUSR1, for: SourceLocation(#fileID, #line))
            Signals.block(SIGUSR1, false)
            interrupted(.write) { Signals.sendToThread(SIGUSR1) }
            let arrival = interrupted(.read) { signal.next() }
            #expect(arrival?.count == 1)
            #expect(arrival?.sender?.processID == getpid())
            // A blocked signal arrives in another way: it is read from the kernel.
            Signals.block(SIGUSR1)
            Signals.sendToThread(SIGUSR1)
            interrupted(.read, times: 1) { #expect(signal.next()?.count == 1) }
        }
    }

    // MARK: - Reports

    @Test func `a report is written whole`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            interrupted(.write) { #expect(StandardError.write("it is said")) }
        }
        #expect(result.message.contains("it is said\n"))
    }

    @Test func `a report of which a full pipe has taken a part is written to its end`() async throws {
        try await #require(processExitsWith: .success) { try reportToFullPipe() }
    }
}

/// True if a poll of the descriptor returns at once.
private func isReady(_ descriptor: CInt, _ events: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // Safe: the kernel reads and fills a local variable.
    return unsafe poll(&entry, 1, 0) == 1
}

/// Writes a long report to a full pipe, which is read after a signal.
private func reportToFullPipe() throws {
    let kept = dup(STDERR_FILENO)
    let wire = try Wire.pipe()
    _ = fcntl(wire.far, F_SETFL, 0)
    dup2(wire.far, STDERR_FILENO)
    Signals.handle(SIGUSR1)
    let length = 1_000_000
    let isDone = Shared()
    let thread = Log<pthread_t>()
    let reporter = try BareThread {
        Signals.block(SIGUSR1, false)
        thread.add(pthread_self())
        #expect(StandardError.write(String(repeating: "x", count: length - 1)))
        isDone.increment()
    }
    waitUntil("the pipe is full") { !isReady(wire.far, POLLOUT) }
    for target in thread.entries { pthread_kill(target, SIGUSR1) }
    var count = 0
    while isDone.count == 0 { count += wire.drain() }
    reporter.join()
    count += wire.drain()
    dup2(kept, STDERR_FILENO)
    #expect(count == length)
}

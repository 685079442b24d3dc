import Glibc
import TestSupport
import Testing

import class RunLoops.MessagePort
import class RunLoops.RunLoop
import class RunLoops.Timer

@testable import RunLoops

/// Calls of the kernel that a signal interrupts, one kind after the other: each is made again, and nobody is told.
///
/// All that may be interrupted by its manual page, also where this kernel would wait and not be: a file system in user space,
/// or a supervisor of the process, may answer so.
@Suite struct InterruptedCallTests {
    @Test func `a loop that sleeps sleeps on, and one that looks sees what is there`() throws {
        try onLoopThread { loop in
            loop.waitPolicy = .park
            // A thread that is held up finds its timer due, and does not sleep.
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
            // Told once: one that is level-triggered would be asked for in the next pass.
            let source = DescriptorSource(wire.near, interest: .read, trigger: .edge) { source, seen in
                readiness = seen
                source.invalidate()
            }
            try loop.add(source, forMode: .default)
            wire.send()
            #expect(interrupted(.poll) { loop.run(in: .default, until: .hang) } == .finished)
            #expect(readiness == .readable)
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
            // One that was blocked comes the other way.
            Signals.block(SIGUSR1)
            Signals.sendToThread(SIGUSR1)
            interrupted(.read, times: 1) { #expect(signal.next()?.count == 1) }
        }
    }

    // MARK: - What is said

    @Test func `a complaint is written whole`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            interrupted(.write) { RunLoop.say("it is said") }
        }
        #expect(result.message.contains("it is said\n"))
    }

    @Test func `a complaint of which a full pipe has taken a part is written to its end`() async throws {
        try await #require(processExitsWith: .success) { try complainToFullPipe() }
    }

    @Test func `a complaint that nobody reads does not end the program`() async throws {
        try await #require(processExitsWith: .success) {
            let kept = dup(STDERR_FILENO)
            let wire = try Wire.pipe()
            dup2(wire.far, STDERR_FILENO)
            wire.close()
            Signals.ignore(SIGPIPE, false)
            Signals.block(SIGPIPE, false)
            interrupted(.sigtimedwait) { RunLoop.say("it is said") }
            dup2(kept, STDERR_FILENO)
        }
    }

    // MARK: - Descriptors

    @Test func `a descriptor is closed once, for its number may be another one's by then`() throws {
        let wire = try Wire.pipe()
        defer { wire.close(wire.far) }
        var owned: OwnedDescriptor? = OwnedDescriptor(wire.near)
        Faults.interrupt(.close, times: 3)
        owned = nil
        let left = Faults.interruptionsLeft(.close)
        Faults.interrupt(.close, times: 0)
        #expect(left == 2)
        _ = consume owned
    }

    @Test func `a packet is sent, and received, and waited for`() throws {
        let ends = try PacketSocket.pair()
        #expect(interrupted(.sendmsg) { ends.near.give([1]) } == .sent)
        #expect(try interrupted(.ppoll) { try ends.far.wait(for: .read, before: .hang) })
        #expect(interrupted(.recvmsg) { ends.far.take() } == .packet([1], descriptors: 0))
        #expect(ends.near.give([2]) == .sent)
        #expect(interrupted(.recvmsg) { ends.far.take(waits: true) } == .packet([2], descriptors: 0))
        let deadline = ContinuousClock.now + .milliseconds(5)
        #expect(try !interrupted(.ppoll) { try ends.far.wait(for: .read, before: deadline) })
        #expect(.now >= deadline)
    }

    @Test func `the end of a connection is told from an empty packet`() throws {
        let ends = try PacketSocket.pair()
        ends.near.shutDown()
        #expect(interrupted(.poll) { ends.far.take() } == .end)
    }

    // MARK: - Ports between processes

    @Test(arguments: [Faults.Call.open, .openat, .flock])
    func `a name is taken`(call: Faults.Call) throws {
        let names = try OwnNames()
        let name = try PortName("test")
        let port = try interrupted(call) { try MessagePort(name: name, in: names.names) }
        port.invalidate()
    }

    @Test(arguments: [Faults.Call.open, .connect])
    func `a port is found`(call: Faults.Call) throws {
        let server = try PortServer()
        let remote = try interrupted(call) { try server.connect() }
        try remote.send(bytes("hello"))
    }

    @Test(arguments: [Faults.Call.accept, .recvmsg, .sendmsg, .epollWait])
    func `a port's loop accepts and answers`(call: Faults.Call) throws {
        let server = try PortServer { message in
            let answer = bytes("got " + text(message))
            do { try message.reply(answer) } catch { Issue.record(error) }
        }
        // One at a time, and then the one that is to come next.
        try server.onThread { _ in Faults.interrupt(call, times: 1) }
        let remote = try server.connect()
        try server.onThread { _ in if call != .accept { Faults.interrupt(call) } }
        let reply = try remote.request(bytes("it"), before: .hang)
        #expect(text(reply) == "got it")
        #expect(try server.onThread { _ in Faults.interruptionsLeft(call) } == 0)
        #expect(server.port.statistics.admittedPeers == 1)
    }

    @Test(arguments: [Faults.Call.sendmsg, .recvmsg, .ppoll])
    func `a request is sent, and its reply waited for and read`(call: Faults.Call) throws {
        let server = try PortServer { message in do { try message.reply() } catch { Issue.record(error) } }
        let remote = try server.connect()
        _ = try interrupted(call) { try remote.request(bytes("it"), before: .hang) }
        // Without a deadline it waits in the call that reads.
        if call != .ppoll { _ = try interrupted(call) { try remote.request(bytes("it")) } }
    }
}

/// Has calls of a kind interrupted while something is done, which makes as many, and one more.
private func interrupted<Result: ~Copyable>(
    _ call: Faults.Call, times: Int = 3, _ body: () throws -> Result
) rethrows -> Result {
    Faults.interrupt(call, times: times)
    defer {
        #expect(Faults.interruptionsLeft(call) == 0)
        Faults.interrupt(call, times: 0)
    }
    return try body()
}

/// Whether a poll of a descriptor would return at once.
private func isReady(_ descriptor: CInt, _ events: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // Safe: the kernel reads and fills our own value.
    return unsafe poll(&entry, 1, 0) == 1
}

/// Complains at length to a pipe that nobody reads until a signal has come.
private func complainToFullPipe() throws {
    let kept = dup(STDERR_FILENO)
    let wire = try Wire.pipe()
    _ = fcntl(wire.far, F_SETFL, 0)
    dup2(wire.far, STDERR_FILENO)
    Signals.handle(SIGUSR1)
    let length = 1_000_000
    let isDone = Shared()
    let thread = Log<pthread_t>()
    let complainer = try BareThread {
        Signals.block(SIGUSR1, false)
        thread.add(pthread_self())
        RunLoop.say(String(repeating: "x", count: length - 1))
        isDone.increment()
    }
    waitUntil("the pipe is full") { !isReady(wire.far, POLLOUT) }
    for target in thread.entries { pthread_kill(target, SIGUSR1) }
    var count = 0
    while isDone.count == 0 { count += wire.drain() }
    complainer.join()
    count += wire.drain()
    dup2(kept, STDERR_FILENO)
    #expect(count == length)
}

import Glibc
import MessagePorts
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// Signals interrupt every wait of a thread, as those of an interval timer do.
@Suite struct InterruptionTests {
    @Test func `threads that are interrupted all the time lose no message, and their waits last as long`()
        async
    {
        await #expect(processExitsWith: .success) {
            try interruptAll()
        }
    }
}

/// Interrupts three threads until their work is done.
private func interruptAll() throws {
    installHandler()
    let work = Interrupted()
    let worker = try RunLoopThread(name: "worker")
    let targets = Log<pthread_t>()
    let server = try PortServer { message in
        let answer = message.bytes
        do { try message.reply(answer) } catch { work.failures.add("\(error)") }
    }
    let remote = try server.connect()
    try server.onThread { _ in targets.add(acceptingInterruptions()) }
    try worker.runLoop.performAndWait { targets.add(acceptingInterruptions()) }
    let isOver = Shared()
    let leaves = Gate()
    let sender = try BareThread {
        targets.add(acceptingInterruptions())
        repeat {
            work.run(against: worker, asking: remote)
        } while interruptions.load(ordering: .relaxed) < 1_000
        isOver.increment()
        // The thread exists as long as it can be interrupted.
        #expect(leaves.wait())
    }
    waitUntil("all threads run") { targets.entries.count == 3 }
    let threads = targets.entries
    while isOver.count == 0 {
        for thread in threads { pthread_kill(thread, SIGALRM) }
        for _ in 0..<50 { sched_yield() }
    }
    leaves.open()
    sender.join()
    withExtendedLifetime(server) {}
    #expect(work.failures.entries == [])
    worker.stop()
    #expect(worker.join(before: .hang))
}

/// The number of signals that were handled.
private let interruptions = Atomic(0)

/// Sets a handler of the signal after which no system call is restarted.
private func installHandler() {
    _ = interruptions.load(ordering: .relaxed)
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in interruptions.add(1, ordering: .relaxed) }
    action.sa_flags = 0
    // Safe: the kernel reads a local variable.
    unsafe sigaction(SIGALRM, &action, nil)
}

/// Unblocks the signal for the calling thread, and returns the thread.
private func acceptingInterruptions() -> pthread_t {
    Signals.block(SIGALRM, false)
    return pthread_self()
}

/// The work of the interrupted threads.
private final class Interrupted: Sendable {
    let failures = Log<String>()

    func run(against worker: RunLoopThread, asking remote: RemotePort) {
        do {
            for round in 0..<100 {
                try performAndWait(worker, round)
                try waitForTimer()
                try exchange(worker, round)
                try ask(remote, round)
                try waitInVain(worker)
                if round % 20 == 0 { try joinThread() }
            }
        } catch { failures.add("\(error)") }
    }

    private func performAndWait(_ worker: RunLoopThread, _ round: Int) throws {
        let answer = try worker.runLoop.performAndWait { round }
        if answer != round { failures.add("a wrong answer") }
    }

    /// Runs this thread's loop, which sleeps until a timer fires.
    private func waitForTimer() throws {
        let loop = RunLoop.current
        loop.waitPolicy = .park
        let start = ContinuousClock.now
        var fires = 0
        loop.add(Timer(timeInterval: .milliseconds(1), repeats: false) { _ in fires += 1 }, forMode: .default)
        if loop.run(in: .default, until: .hang) != .finished || fires != 1 { failures.add("the timer") }
        if .now - start < .milliseconds(1) { failures.add("the timer was early") }
    }

    /// Sends messages through a port that is full most of the time.
    private func exchange(_ worker: RunLoopThread, _ round: Int) throws {
        let port = Port<Int>(queueLimit: 2)
        let received = Log<Int>()
        try worker.runLoop.performAndWait {
            RunLoop.current.add(port, forMode: .default) { received.add($0) }
        }
        for number in 0..<20 { try port.send(number, before: .hang) }
        try worker.runLoop.performAndWait {
            while received.entries.count < 20 { RunLoop.current.run(in: .default, until: .now) }
            RunLoop.current.remove(port, forMode: .default)
        }
        if received.entries != Array(0..<20) { failures.add("the messages: \(received.entries)") }
    }

    /// Sends a request to a port with a name, and waits for the reply in the kernel.
    private func ask(_ remote: RemotePort, _ round: Int) throws {
        let reply = try remote.request(bytes("\(round)"), before: .hang)
        if text(reply) != "\(round)" { failures.add("a wrong reply") }
    }

    /// Checks that no wait ends before its deadline.
    private func waitInVain(_ worker: RunLoopThread) throws {
        let deadline = ContinuousClock.now + .milliseconds(1)
        if worker.join(before: deadline) { failures.add("the thread has ended") }
        if ContinuousClock.now < deadline { failures.add("a wait ended early") }
    }

    private func joinThread() throws {
        let thread = try RunLoopThread(name: "short")
        thread.stop()
        if !thread.join(before: .hang) { failures.add("a thread was not joined") }
    }
}

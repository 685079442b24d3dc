import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// If other code closes a loop's descriptor, the program ends with a message, and neither hangs nor spins.
///
/// Each test has a process of its own, which ends.
@Suite struct ClosedDescriptorTests {
    @Test func `who wakes a loop whose wake-up descriptor was closed is told`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            let worker = try sleepingThread()
            close(worker.runLoop.handle.wakeup.descriptor)
            worker.runLoop.perform {}
        }
        expect(result, says: "the descriptor that wakes a loop was closed by other code")
    }

    @Test func `a wake-up descriptor that other code has filled wakes the loop all the same`() throws {
        let worker = try sleepingThread()
        let descriptor = worker.runLoop.handle.wakeup.descriptor
        for _ in 0..<100 {
            // The write wakes the loop, which then sleeps again. The descriptor stays full.
            fill(descriptor)
            waitUntilAsleep(worker.runLoop)
            try worker.runLoop.performAndWait(before: .hang) {}
        }
        worker.stop()
        #expect(worker.join(before: .hang))
    }

    @Test func `a loop whose alarm was closed says so when it sets it`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            try onLoopThread { loop in
                loop.waitPolicy = .park
                #expect(close(alarm(of: loop)) == 0)
                loop.add(Port<Int>(), forMode: .default) { _ in }
                loop.run(until: .hang)
            }
        }
        expect(result, says: "the descriptor that times a loop was closed by other code")
    }

    @Test func `a loop whose poller was closed says so when it waits`() async {
        for isAsleep in [false, true] {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                [isAsleep = isAsleep as Bool] in
                try warmUpRuntime()
                try closePoller(whileAsleep: isAsleep)
            }
            expect(result, says: "the kernel refuses to wait")
        }
    }

    @Test func `a source whose descriptor was closed while it was ready is named`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
                try loop.add(source, forMode: .default)
                wire.send()
                loop.add(
                    RunLoop.Observer(activities: .afterWaiting) { _, _ in _ = close(wire.near) },
                    forMode: .default)
                loop.run(in: .default, until: .hang)
            }
        }
        expect(result, says: "was closed; invalidate the source first")
    }

    @Test func `a source whose closed descriptor lives on in a copy is named`() async {
        // The kernel continues to report the descriptor under the closed number.
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
                try loop.add(source, forMode: .default)
                #expect(dup(wire.near) >= 0)
                close(wire.near)
                wire.send()
                loop.run(in: .default, until: .hang)
            }
        }
        expect(result, says: "was closed; invalidate the source first")
    }

    @Test func `a source whose closed descriptor is to be watched again is named`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
                try loop.add(source, forMode: .default)
                loop.perform(inModes: [.init("other")]) {}
                loop.run(in: .init("other"), until: .now)
                close(wire.near)
                loop.run(in: .default, until: .now)
            }
        }
        expect(result, says: "was closed; invalidate the source first")
    }

    @Test func `a source whose descriptor was closed before it was ready is silent, and its loop may end`()
        async
    {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                    Issue.record("it is not there")
                }
                try loop.add(source, forMode: .default)
                close(wire.near)
                let passes = loop.statistics.passes
                #expect(loop.run(in: .default, until: .now + .milliseconds(20)) == .timedOut)
                // The loop does not spin.
                #expect(loop.statistics.passes - passes < 10)
            }
        }
    }
}

/// A thread whose loop sleeps in the kernel.
private func sleepingThread() throws -> RunLoopThread {
    let worker = try RunLoopThread(name: "worker")
    try worker.runLoop.performAndWait { RunLoop.current.waitPolicy = .park }
    waitUntilAsleep(worker.runLoop)
    return worker
}

/// Writes to an eventfd until it is full.
private func fill(_ descriptor: CInt) {
    var before: UInt64 = 0
    var count = UInt64.max - 1
    // Safe, both: the kernel fills and reads local variables.
    _ = unsafe read(descriptor, &before, 8)
    let written = unsafe write(descriptor, &count, 8)
    #expect(written == 8)
}

/// Closes the epoll set of a loop, while the loop sleeps or runs a handler.
private func closePoller(whileAsleep isAsleep: Bool) throws {
    let worker = try RunLoopThread(name: "worker")
    try worker.runLoop.performAndWait { RunLoop.current.waitPolicy = .park }
    let poller = poller(of: worker.runLoop)
    if isAsleep {
        waitUntilAsleep(worker.runLoop)
        #expect(close(poller) == 0)
        // The loop sleeps in the closed set until something wakes it.
        worker.runLoop.perform {}
    } else {
        worker.runLoop.perform { #expect(close(poller) == 0) }
    }
    worker.join(before: .hang)
}

/// The epoll set in which a loop sleeps: the set with the loop's wake-up descriptor.
private func poller(of loop: RunLoop) -> CInt {
    (0..<1_024).first { members(of: $0).contains(loop.handle.wakeup.descriptor) } ?? -1
}

/// The timerfd of a loop.
private func alarm(of loop: RunLoop) -> CInt {
    members(of: poller(of: loop)).first { kind(of: $0).contains("timerfd") } ?? -1
}

/// The descriptors that an epoll set watches.
private func members(of set: CInt) -> [CInt] {
    if !kind(of: set).contains("eventpoll") { return [] }
    let lines = contents("/proc/self/fdinfo/\(set)").split(separator: "\n")
    return lines.compactMap { line in
        let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
        return words.first == "tfd" ? CInt(words[1]) : nil
    }
}

/// The kernel's name of the file of a descriptor.
private func kind(of descriptor: CInt) -> String {
    var name = [UInt8](repeating: 0, count: 64)
    // Safe: the kernel fills a local array, and returns the length.
    let count = unsafe readlink("/proc/self/fd/\(descriptor)", &name, name.count)
    return String(decoding: name.prefix(max(count, 0)), as: UTF8.self)
}

private func contents(_ path: String) -> String {
    // Safe, both: the kernel reads a local string, and fills a local array.
    let file = unsafe open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
}

/// Expects that a process has written a text before it ended.
private func expect(_ result: ExitTest.Result?, says part: String) {
    #expect(result?.message.contains(part) == true, "\(result?.message ?? "")")
}

import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The kernel refuses one of the descriptors that a loop needs, and no other descriptor stays open.
///
/// Each test has a process of its own, in which all numbers below a bound are used, so that new descriptors get the next ones.
@Suite struct CreationFaultTests {
    @Test func `a loop that lacks a descriptor is an error, leaves nothing open, and can be had later`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            let thread = try BareThread {
                for free in 0..<descriptorsOfALoop {
                    #expect(refusal(bound, free: free) { _ = try RunLoop.makeCurrent() } == EMFILE)
                    #expect(openDescriptors(from: bound) == 0)
                }
                #expect(refusal(bound, free: descriptorsOfALoop) { _ = try RunLoop.makeCurrent() } == nil)
                #expect(openDescriptors(from: bound) == descriptorsOfALoop)
                #expect(RunLoop.current.perform { RunLoop.current.stop() })
                #expect(RunLoop.current.run(in: .default, until: .hang) == .stopped)
            }
            thread.join()
            #expect(openDescriptors(from: bound) == 0)
        }
    }

    @Test func `environment variables do not choose libevent's backend`() async throws {
        try await #require(processExitsWith: .success) {
            // Safe: this process still has only one thread that reads its environment.
            for name in ["EVENT_NOEPOLL", "EVENT_EPOLL_USE_CHANGELIST"] { unsafe setenv(name, "1", 1) }
            try onLoopThread { loop in
                let source = DescriptorSource(1 << 20, interest: .read) { _, _ in }
                #expect(throws: SystemError.self) { try loop.add(source, forMode: .default) }
                let wire = try Wire.pipe()
                defer { wire.close() }
                wire.send()
                let readable = DescriptorSource(wire.near, interest: .read) { source, _ in source.invalidate()
                }
                try loop.add(readable, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(!readable.isValid)
            }
        }
    }

    @Test func `a thread whose loop lacks a descriptor is an error, and leaves nothing`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            for free in 0..<descriptorsOfALoop {
                #expect(refusal(bound, free: free) { _ = try RunLoopThread(name: "refused") } == EMFILE)
                #expect(openDescriptors(from: bound) == 0)
            }
            let detached = refusal(bound, free: 0) {
                try RunLoopThread.detach(name: "refused") { _ in Issue.record("there is no loop") }
            }
            #expect(detached == EMFILE)
            #expect(openDescriptors(from: bound) == 0)
            let enough = refusal(bound, free: descriptorsOfALoop) {
                let thread = try RunLoopThread(name: "worker")
                #expect(openDescriptors(from: bound) == descriptorsOfALoop)
                thread.stop()
                #expect(thread.join(before: .hang))
            }
            #expect(enough == nil)
        }
    }

    @Test func `a thread that was joined has no descriptor open, though its loop is held`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            fillDescriptors(below: bound)
            // The runtime under the tests can open a descriptor late, which is no descriptor of the first thread.
            _ = try descriptorsLeftByThread(countingFrom: bound)
            for _ in 0..<100 {
                let left = try descriptorsLeftByThread(countingFrom: bound)
                #expect(left == 0)
            }
        }
    }

    @Test func `the first source of a loop costs a descriptor, and the others none`() async throws {
        try await #require(processExitsWith: .success) {
            let wires = try (0..<3).map { _ in try Wire.pipe() }
            try onLoopThread { loop in
                let bound = try boundOfDescriptors()
                let sources = wires.map { wire in
                    DescriptorSource(wire.near, interest: .read) { _, _ in wire.drain() }
                }
                #expect(refusal(bound, free: 0) { try loop.add(sources[0], forMode: .default) } == EMFILE)
                for source in sources {
                    #expect(refusal(bound, free: 1) { try loop.add(source, forMode: .default) } == nil)
                    #expect(openDescriptors(from: bound) == 1)
                }
                for wire in wires {
                    wire.send()
                    let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                    #expect(result == .handledSource)
                }
            }
        }
    }
}

/// Ends a thread while another thread sends to its loop.
///
/// - Returns: The number of descriptors that are open after the join and were not open before the thread was made.
private func descriptorsLeftByThread(countingFrom bound: Int) throws -> Int {
    let before = openDescriptors(from: bound)
    let thread = try RunLoopThread(name: "worker")
    let sender = try BareThread { while thread.runLoop.perform({}) {} }
    thread.stop()
    #expect(thread.join(before: .hang))
    let after = openDescriptors(from: bound)
    sender.join()
    return after - before
}

/// The number of an eventfd, a timerfd, an epoll set, and the two ends of the pipe that libevent opens for each base.
private let descriptorsOfALoop = 5

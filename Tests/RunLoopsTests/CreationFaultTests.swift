import Dispatch
import Glibc
import RunLoops
import TestSupport
import Testing

/// What is left when the kernel refuses one of the descriptors that a loop needs.
///
/// Each in a process of its own, in which all numbers below a bound are taken: what is opened has the next ones.
@Suite struct CreationFaultTests {
    @Test func `a loop that lacks a descriptor is an error, leaves nothing open, and can be had later`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let bound = try takeDescriptors()
            let thread = try BareThread {
                for free in 0..<descriptorsOfALoop {
                    #expect(refusal(bound + free) { _ = try RunLoop.makeCurrent() } == EMFILE)
                    #expect(openDescriptors(from: bound) == 0)
                }
                #expect(refusal(bound + descriptorsOfALoop) { _ = try RunLoop.makeCurrent() } == nil)
                #expect(openDescriptors(from: bound) == descriptorsOfALoop)
                #expect(RunLoop.current.perform { RunLoop.current.stop() })
                #expect(RunLoop.current.run(in: .default, until: .hang) == .stopped)
            }
            thread.join()
            #expect(openDescriptors(from: bound) == 0)
        }
    }

    @Test func `a thread whose loop lacks a descriptor is an error, and leaves nothing`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try takeDescriptors()
            for free in 0..<descriptorsOfALoop {
                #expect(refusal(bound + free) { _ = try RunLoopThread(name: "refused") } == EMFILE)
                let detached = refusal(bound + free) {
                    try RunLoopThread.detach(name: "refused") { _ in Issue.record("there is no loop") }
                }
                #expect(detached == EMFILE)
                #expect(openDescriptors(from: bound) == 0)
            }
            let enough = refusal(bound + descriptorsOfALoop) {
                let thread = try RunLoopThread(name: "worker")
                #expect(openDescriptors(from: bound) == descriptorsOfALoop)
                thread.stop()
                #expect(thread.join(before: .hang))
            }
            #expect(enough == nil)
        }
    }

    @Test func `a source costs no descriptor`() async throws {
        try await #require(processExitsWith: .success) {
            let wire = try Wire.pipe()
            let bound = try takeDescriptors()
            try onLoopThread { loop in
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in wire.drain() }
                #expect(refusal(bound) { try loop.add(source, forMode: .default) } == nil)
                wire.send()
                let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                #expect(result == .handledSource)
                #expect(openDescriptors(from: bound) == descriptorsOfALoop)
            }
        }
    }
}

/// An eventfd, a timerfd, an epoll set, and the two ends of the pipe that libevent opens with each.
private let descriptorsOfALoop = 5

/// The limit while nothing is refused.
private let most = 256

/// Takes all free numbers below a bound.
///
/// - Returns: The bound: the first free number.
private func takeDescriptors() throws -> Int {
    // The runtime under the tests opens its own for its first timer, and cannot do without.
    let isWarm = Gate()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isWarm.open() }
    #expect(isWarm.wait())
    try limitDescriptors(to: most)
    var free = Int(dup(0))
    while free >= 0 && free < 100 { free = Int(dup(0)) }
    close(CInt(free))
    return free
}

/// How many numbers from the bound on are taken.
private func openDescriptors(from bound: Int) -> Int {
    (bound..<most).count { fcntl(CInt($0), F_GETFD) != -1 }
}

/// The code of what a creation throws, if it does, while no number from the limit on may be taken.
///
/// No longer than that: the runtime would not survive it if it needed one.
private func refusal(_ limit: Int, _ create: () throws -> Void) -> CInt? {
    do {
        try limitDescriptors(to: limit)
        defer { do { try limitDescriptors(to: most) } catch { Issue.record(error) } }
        try create()
        return nil
    } catch let error as SystemError {
        return error.code
    } catch {
        Issue.record(error)
        return nil
    }
}

import Glibc
import RunLoops
import TestSupport
import Testing

/// A loop ends with its thread.
@Suite struct LoopEndTests {
    @Test func `what was added to a loop is let go of`() throws {
        let gone = Log<String>()
        let wire = try Wire.pipe()
        defer { wire.close() }
        try BareThread {
            let loop = RunLoop.current
            let canary = { (name: String) in Canary { gone.add(name) } }
            loop.add(
                Timer(timeInterval: .seconds(60), repeats: true) { [canary = canary("timer")] _ in
                    canary.sing()
                }, forMode: .default)
            loop.add(
                RunLoop.Observer(activities: .beforeWaiting) { [canary = canary("observer")] _, _ in
                    canary.sing()
                }, forMode: .init("never run"))
            loop.add(ManualSource { [canary = canary("manual")] in canary.sing() }, forMode: .common)
            loop.add(Port<Int>(), forMode: .common) { [canary = canary("port")] _ in canary.sing() }
            let source = DescriptorSource(wire.near, interest: .read) { [canary = canary("source")] _, _ in
                canary.sing()
            }
            do { try loop.add(source, forMode: .default) } catch { Issue.record(error) }
            loop.run(until: .now)
            #expect(gone.entries == [])
        }.join()
        #expect(gone.entries.sorted() == ["manual", "observer", "port", "source", "timer"])
    }

    // Guarantees: Blocks that wait when a loop ends are destroyed; they do not run, and they do not leak.
    @Test func `blocks that wait are destroyed without having run`() throws {
        let gone = Log<String>()
        try BareThread {
            let loop = RunLoop.current
            loop.perform(inModes: [.init("never run")]) { [canary = Canary { gone.add("set aside") }] in
                canary.sing()
                gone.add("ran")
            }
            loop.run(until: .now)
            loop.perform { [canary = Canary { gone.add("own") }] in
                canary.sing()
                gone.add("ran")
            }
            do {
                try BareThread {
                    loop.perform { [canary = Canary { gone.add("another's") }] in
                        canary.sing()
                        gone.add("ran")
                    }
                }.join()
            } catch { Issue.record(error) }
        }.join()
        #expect(gone.entries.sorted() == ["another's", "own", "set aside"])
    }

    @Test func `a deinit that uses the ending loop finds an ended one`() throws {
        let log = Log<String>()
        try BareThread {
            let loop = RunLoop.current
            let last = Canary {
                #expect(RunLoop.current === loop)
                #expect(!loop.perform { log.add("ran") })
                #expect(!loop.perform(inModes: [.default]) { log.add("ran") })
                let several = loop.perform(contentsOf: [{ @Sendable in log.add("ran") }])
                #expect(!several)
                #expect(loop.perform(after: .zero) { log.add("ran") }.cancel() == .loopEnded)
                loop.add(Timer(timeInterval: .zero, repeats: true) { _ in }, forMode: .default)
                loop.add(ManualSource {}, forMode: .default)
                loop.add(Port<Int>(), forMode: .default) { _ in }
                loop.add(RunLoop.Observer(activities: .entry) { _, _ in }, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                log.add("destroyed")
            }
            loop.perform { last.sing() }
            loop.add(Timer(timeInterval: .seconds(60), repeats: true) { _ in last.sing() }, forMode: .default)
        }.join()
        #expect(log.entries == ["destroyed"])
    }

    @Test func `what is destroyed with a loop may post to another one`() throws {
        let target = try RunLoopThread(name: "target")
        defer { target.stop() }
        let received = Gate()
        try BareThread {
            RunLoop.current.perform { [canary = Canary { target.runLoop.perform { received.open() } }] in
                canary.sing()
            }
        }.join()
        #expect(received.wait())
    }

    @Test func `a loop object may outlive its thread, and does nothing then`() throws {
        let loops = Log<RunLoop>()
        try BareThread {
            loops.add(RunLoop.current)
            RunLoop.current.name = "late"
            RunLoop.current.perform {}
            RunLoop.current.run()
        }.join()
        let loop = loops.entries[0]
        loop.stop()
        loop.wakeUp()
        #expect(!loop.perform {})
        #expect(loop.name == "late")
        #expect(loop.statistics.messages == 1)
        #expect(!loop.isCurrent)
        // A later thread can have the same number, but has another loop.
        try BareThread { #expect(RunLoop.current != loop) }.join()
    }

    @Test func `a signal to what was in the loop is harmless`() throws {
        let sources = Log<ManualSource>()
        let ports = Log<Port<Int>>()
        try BareThread {
            let source = ManualSource { Issue.record("nobody runs the loop") }
            let port = Port<Int>()
            RunLoop.current.add(source, forMode: .default)
            RunLoop.current.add(port, forMode: .default) { _ in Issue.record("nobody runs the loop") }
            sources.add(source)
            ports.add(port)
        }.join()
        sources.entries[0].signal()
        try ports.entries[0].send(7)
        // The message waits for the next loop.
        try onLoopThread { loop in
            let received = Log<Int>()
            loop.add(ports.entries[0], forMode: .default) { received.add($0) }
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(received.entries == [7])
        }
    }

    @Test func `whatever the race, a block runs, or is refused, or is destroyed with the loop`() throws {
        for round in 0..<300 {
            let thread = try RunLoopThread(name: "short")
            let count = Counts()
            let poster = try BareThread {
                for _ in 0..<100 {
                    let isTaken = thread.runLoop.perform { [canary = Canary { count.gone() }] in
                        canary.sing()
                        count.ran()
                    }
                    if isTaken { count.taken() }
                }
            }
            for _ in 0..<(round * 3) { _ = ContinuousClock.now }
            thread.stop()
            #expect(thread.join(before: .hang))
            poster.join()
            count.check(posted: 100)
        }
    }

    @Test func `a thread-specific destructor may use a loop, which ends too`() throws {
        let (used, gone) = (Gate(), Gate())
        try BareThread {
            let first = RunLoop.current
            // The keys of later calls are destroyed later, when the first loop has ended.
            onThreadEnd {
                let second = RunLoop.current
                #expect(second != first)
                #expect(!first.perform {})
                second.perform { used.open() }
                #expect(second.run(in: .default, until: .hang) == .finished)
                second.perform { [canary = Canary(gone)] in canary.sing() }
            }
        }.join()
        #expect(used.wait())
        #expect(gone.wait())
    }
}

/// The numbers of blocks that were accepted, that ran, and that were destroyed.
private final class Counts: Sendable {
    private let stored = Guarded((taken: 0, ran: 0, gone: 0))

    func taken() { stored.withLock { $0.taken += 1 } }
    func ran() { stored.withLock { $0.ran += 1 } }
    func gone() { stored.withLock { $0.gone += 1 } }

    func check(posted: Int) {
        let (taken, ran, gone) = stored.withLock { $0 }
        #expect(gone == posted)
        #expect(ran <= taken)
    }
}

/// Calls a closure while the calling thread ends, when its thread-specific data are destroyed.
private func onThreadEnd(_ body: @escaping @Sendable () -> Void) {
    var key = pthread_key_t()
    // Safe: the key is a local variable, and each value is a reference that the destructor takes back.
    unsafe pthread_key_create(&key) { value in
        guard let value = unsafe value else { return }
        unsafe Unmanaged<Canary>.fromOpaque(value).release()
    }
    unsafe pthread_setspecific(key, Unmanaged.passRetained(Canary(body)).toOpaque())
}

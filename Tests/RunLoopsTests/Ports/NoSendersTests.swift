import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The receiver gets a notice each time the last send right is released, after everything that the rights have sent.
@Suite struct NoSendersTests {
    @Test func `the no-senders notice arrives after everything the last right sent`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 3)
            var log: [String] = []
            loop.add(port, forMode: .default) { log.append("\($0)") }
            port.onNoSenders { log.append($0 === port ? "none" : "of another port") }
            var rights = [port.makeSendRight(), port.makeSendRight()]
            try rights[0].send(1)
            rights.removeFirst()
            loop.settle()
            #expect(log == ["1"])
            try rights[0].send(contentsOf: [2, 3, 4])
            rights.removeFirst()
            try port.makeSendOnceRight(ifUnused: 0).send(5)
            loop.settle()
            #expect(log == ["1", "2", "3", "4", "none", "5"])
            // The notice uses no room in the queue.
            try port.send(contentsOf: [6, 7, 8], before: .distantPast)
        }
    }

    @Test func `each time without rights gives one notice, and none before the first right`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var calls = 0
            loop.add(port, forMode: .default) { _ in }
            port.onNoSenders { _ in calls += 1 }
            loop.settle()
            #expect(calls == 0)
            for times in 1...5 {
                _ = port.makeSendRight()
                loop.settle()
                loop.settle()
                #expect(calls == times)
            }
        }
    }

    @Test func `a right that was made since makes the notice stale`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var log: [String] = []
            loop.add(port, forMode: .default) { log.append("\($0)") }
            port.onNoSenders { _ in log.append("none") }
            _ = port.makeSendRight()
            var right: SendRight? = port.makeSendRight()
            loop.settle()
            #expect(log == [])
            // The right is released, and then another one: one notice arrives, after everything that both have sent.
            try right?.send(1)
            right = nil
            right = port.makeSendRight()
            try right?.send(2)
            right = nil
            loop.settle()
            #expect(log == ["1", "2", "none"])
            withExtendedLifetime(right) {}
        }
    }

    @Test func `onNoSenders called late takes effect at once, and a second call replaces the handler`() throws
    {
        try onLoopThread { loop in
            let port = Port<Int>()
            var log: [String] = []
            loop.add(port, forMode: .default) { _ in }
            _ = port.makeSendRight()
            loop.settle()
            port.onNoSenders { _ in log.append("first") }
            #expect(log == [])
            loop.settle()
            #expect(log == ["first"])
            port.onNoSenders { _ in log.append("second") }
            loop.settle()
            #expect(log == ["first"])
            _ = port.makeSendRight()
            loop.settle()
            #expect(log == ["first", "second"])
        }
    }

    @Test func `a notice while the port is in no loop is delivered after the next call of onNoSenders`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Int>()
            let alive = Shared()
            var calls = 0
            do {
                let captured = Counted(alive)
                loop.add(port, forMode: .default) { _ in }
                port.onNoSenders { _ in _ = captured }
            }
            var right: SendRight? = port.makeSendRight()
            loop.remove(port, forMode: .default)
            #expect(alive.count == 0)
            right = nil
            loop.add(port, forMode: .default) { _ in }
            loop.settle()
            port.onNoSenders { _ in calls += 1 }
            loop.settle()
            #expect(calls == 1)
            // The notice is in the queue when the port leaves the loop, and is received while the port has no handler for it.
            _ = port.makeSendRight()
            loop.remove(port, forMode: .default)
            loop.add(port, forMode: .default) { _ in }
            loop.settle()
            #expect(calls == 1)
            port.onNoSenders { _ in calls += 1 }
            loop.settle()
            #expect(calls == 2)
            withExtendedLifetime(right) {}
        }
    }

    @Test func `a notice is delivered in the modes of the port only`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            loop.add(Port<Int>(), forMode: .default) { _ in }
            for isSignal in [false, true] {
                var calls = 0
                if isSignal {
                    let port = Port<Void>()
                    loop.add(port, forMode: other) {}
                    port.onNoSenders { _ in calls += 1 }
                    _ = port.makeSendRight()
                } else {
                    let port = Port<Int>()
                    loop.add(port, forMode: other) { _ in }
                    port.onNoSenders { _ in calls += 1 }
                    _ = port.makeSendRight()
                }
                loop.settle()
                #expect(calls == 0)
                loop.settle(in: other)
                #expect(calls == 1)
            }
        }
    }

    @Test func `an ended port delivers no notice, and releases the handler`() throws {
        try onLoopThread { loop in
            let alive = Shared()
            let port = Port<Int>()
            loop.add(port, forMode: .default) { _ in }
            let captured = Counted(alive)
            port.onNoSenders { [captured] _ in
                _ = captured
                Issue.record("it has ended")
            }
            _ = port.makeSendRight()
            let late = port.makeSendRight()
            port.invalidate()
            port.onNoSenders { [captured] _ in _ = captured }
            _ = consume late
            loop.settle()
            _ = consume captured
            #expect(alive.count == 0)
        }
    }

    @Test func `the handler may end the port, or make a right`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var calls = 0
            loop.add(port, forMode: .default) { _ in }
            port.onNoSenders { [weak port] _ in
                calls += 1
                if calls == 1 { _ = port?.makeSendRight() } else { port?.invalidate() }
            }
            _ = port.makeSendRight()
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(calls == 2)
        }
    }

    @Test func `the notice wakes a receiver that sleeps, also one of signals`() throws {
        for isSignal in [false, true] {
            let receiver = try RunLoopThread(name: "receiver")
            let none = Gate()
            let (port, signals) = (Port<Int>(), Port<Void>())
            receiver.runLoop.perform {
                RunLoop.current.add(port, forMode: .common) { _ in Issue.record("no message") }
                RunLoop.current.add(signals, forMode: .common) { Issue.record("no signal") }
                if isSignal {
                    signals.onNoSenders { _ in none.open() }
                } else {
                    port.onNoSenders { _ in none.open() }
                }
            }
            try receiver.runLoop.performAndWait {}
            waitUntilAsleep(receiver.runLoop)
            if isSignal { _ = signals.makeSendRight() } else { _ = port.makeSendRight() }
            #expect(none.wait())
            receiver.stop()
            receiver.join()
        }
    }

    @Test func `rights released in a forked child cause no notice`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let port = Port<Int>()
                loop.add(port, forMode: .default) { _ in Issue.record("the parent has both rights") }
                port.onNoSenders { _ in Issue.record("the parent has its right") }
                var rights = [port.makeSendRight()]
                let once = Mutex(Optional(port.makeSendOnceRight(ifUnused: 1)))
                let child = Child {
                    rights = []
                    once.withLock { $0 = nil }
                    return 0
                }
                #expect(child.wait() == .exited(0))
                loop.settle()
                #expect(rights.count == 1)
                once.withLock { right in
                    let isThere = right != nil
                    #expect(isThere)
                }
                port.invalidate()
            }
        }
    }

    @Test func `the handler belongs to the loop that the port is in`() async {
        let nowhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { _ in Port<Int>().onNoSenders { _ in } }
        }
        expect(
            nowhere, says: "Port.onNoSenders: the port made at RunLoopsTests/NoSendersTests.swift",
            "is not in this thread's loop; add it to the loop first, and ask on its thread")
        let elsewhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            try onLoopThread { loop in
                loop.add(port, forMode: .default) { _ in }
                let other = try Threads(1) { _ in port.onNoSenders { _ in } }
                try other.join()
            }
        }
        expect(elsewhere, says: "Port.onNoSenders: the port made at", "is not in this thread's loop")
    }
}

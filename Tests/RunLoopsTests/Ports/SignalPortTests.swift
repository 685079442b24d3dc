import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Signals of a port merge, and no signal after the start of the handler is lost.
@Suite struct SignalPortTests {
    @Test func `signals that have not been received are one`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            var calls = 0
            loop.add(port, forMode: .default) { calls += 1 }
            for _ in 0..<1_000 { try port.send() }
            try port.send((), before: .distantPast)
            try port.send(contentsOf: [(), (), ()])
            loop.pass()
            loop.pass()
            #expect(calls == 1)
            try port.send()
            loop.pass()
            #expect(calls == 2)
        }
    }

    @Test func `a signal from inside the handler calls it once more`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            var calls = 0
            loop.add(port, forMode: .default) {
                calls += 1
                do { if calls == 1 { for _ in 0..<3 { try port.send() } } } catch { Issue.record(error) }
            }
            try port.send()
            for _ in 0..<4 { loop.pass() }
            #expect(calls == 2)
        }
    }

    @Test func `a run inside the handler calls it again for a new signal only`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            let log = Log<String>()
            loop.add(port, forMode: .default) {
                let isOuter = log.entries.isEmpty
                log.add("begin")
                loop.pass()
                if isOuter {
                    log.add("send")
                    do { try port.send() } catch { Issue.record(error) }
                    loop.pass()
                }
                log.add("end")
            }
            try port.send()
            loop.pass()
            loop.pass()
            #expect(log.entries == ["begin", "send", "begin", "end", "end"])
        }
    }

    @Test func `a signal is kept before the port is added, while it is removed, and for its mode`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            let other = RunLoop.Mode("other")
            loop.add(Port<Int>(), forMode: other) { _ in }
            var calls = 0
            try port.send()
            loop.add(port, forMode: .default) { calls += 1 }
            loop.pass()
            #expect(calls == 1)

            loop.remove(port, forMode: .default)
            try port.send()
            loop.add(port, forMode: .default) { calls += 1 }
            loop.pass(in: other)
            #expect(calls == 1)
            loop.pass()
            #expect(calls == 2)

            // The port was signalled, and the loop has taken in the signal, when the port is removed.
            try port.send()
            loop.pass(in: other)
            loop.remove(port, forMode: .default)
            loop.add(port, forMode: .default) { calls += 1 }
            loop.pass()
            #expect(calls == 3)
            loop.pass()
            #expect(calls == 3)
        }
    }

    @Test func `removed in its handler with a signal pending, a port calls its next handler`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            var calls = 0
            loop.add(port, forMode: .default) {
                do { try port.send() } catch { Issue.record(error) }
                loop.remove(port, forMode: .default)
            }
            try port.send()
            #expect(loop.run(in: .default) == .finished)
            loop.add(port, forMode: .default) { calls += 1 }
            loop.pass()
            #expect(calls == 1)
        }
    }

    @Test func `the handler sees everything written before a signal, and no signal is left over`() throws {
        // The usual use of a signal port: several threads queue values and signal, and the handler takes all queued values.
        let port = Port<Void>()
        let queue = Log<Int>()
        let last = Gate()
        let senders = 4
        let each = 5_000
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait {
            RunLoop.current.add(port, forMode: .common) {
                if queue.entries.count == senders * each { last.open() }
            }
        }
        let threads = try Threads(senders) { sender in
            for number in 0..<each {
                queue.add(number)
                if number % 100 == 0 || number == each - 1 { try port.send() }
            }
        }
        try threads.join()
        #expect(last.wait())
        thread.stop()
        thread.join()
    }

    @Test func `an ended signal port throws`() throws {
        let port = Port<Void>()
        try port.send()
        port.invalidate()
        #expect(!port.isValid)
        let error = #expect(throws: PortSendError<Void>.self) { try port.send() }
        #expect(error?.reason == .invalid)
        #expect(error?.messages.count == 1)
    }

    @Test func `a signal port that another thread ends leaves its sleeping loop`() throws {
        let port = Port<Void>()
        let added = Gate()
        let receiver = try Threads(1) { _ in
            let loop = RunLoop.current
            loop.add(port, forMode: .default) {}
            loop.perform { added.open() }
            #expect(loop.run(in: .default) == .finished)
        }
        #expect(added.wait())
        port.invalidate()
        try receiver.join()
    }

    @Test func `a message type without content is not a signal`() throws {
        struct Nothing: Sendable {}
        try onLoopThread { loop in
            let port = Port<Nothing>()
            var calls = 0
            loop.add(port, forMode: .default) { _ in calls += 1 }
            for _ in 0..<3 { try port.send(Nothing()) }
            loop.settle()
            #expect(calls == 3)
        }
    }
}

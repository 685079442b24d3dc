import TestSupport
import Testing

@testable import RunLoops

/// However busy one input is, the other inputs are served.
@Suite struct FairnessTests {
    /// A busy input, which is always ready again.
    enum Hog: CaseIterable {
        case block, port, signalPort, manualSource, descriptor, timer
    }

    /// Counts the calls of a busy input, and stops the loop after too many.
    private final class Hogging: Sendable {
        private let calls = Log<Void>()
        private let loop: RunLoop
        private let onTenthCall: @Sendable () -> Void

        init(_ loop: RunLoop, onTenthCall: @escaping @Sendable () -> Void) {
            self.loop = loop
            self.onTenthCall = onTenthCall
        }

        /// True while the busy input continues.
        func isToGoOn() -> Bool {
            calls.add(())
            let count = calls.entries.count
            if count == 10 { onTenthCall() }
            if count == 1_000 { loop.stop() }
            return count < 1_000
        }
    }

    private func start(_ hog: Hog, on loop: RunLoop, _ pipe: Wire, _ hogging: Hogging) throws {
        switch hog {
        case .block:
            @Sendable func again() { if hogging.isToGoOn() { loop.perform { again() } } }
            loop.perform { again() }
        case .port:
            let port = Port<Int>()
            loop.add(port, forMode: .default) { number in if hogging.isToGoOn() { try? port.send(number) } }
            try port.send(1)
        case .signalPort:
            let port = Port<Void>()
            loop.add(port, forMode: .default) { if hogging.isToGoOn() { try? port.send() } }
            try port.send()
        case .manualSource:
            let again = Log<ManualSource>()
            let source = ManualSource { if hogging.isToGoOn() { again.entries[0].signal() } }
            again.add(source)
            loop.add(source, forMode: .default)
            source.signal()
        case .descriptor:
            pipe.send()
            let source = DescriptorSource(pipe.near, interest: .read) { _, _ in _ = hogging.isToGoOn() }
            try loop.add(source, forMode: .default)
        case .timer:
            let timer = Timer(fireAt: .now, interval: .zero, repeats: true) { timer in
                if hogging.isToGoOn() { timer.fireDate = .now }
            }
            loop.add(timer, forMode: .default)
        }
    }

    // Guarantees: Timers and descriptors get their turn, however many blocks and messages arrive.
    @Test(arguments: Hog.allCases) func `an input that is always ready starves no other`(hog: Hog) throws {
        try onLoopThread { loop in
            let hogPipe = try Wire.pipe()
            defer { hogPipe.close() }
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            let served = Log<Hog>()
            @Sendable func note(_ hog: Hog) {
                served.add(hog)
                if served.entries.count == Hog.allCases.count { loop.stop() }
            }
            let port = Port<Int>()
            let signalPort = Port<Void>()
            let manualSource = ManualSource { note(.manualSource) }
            let hogging = Hogging(loop) {
                loop.perform { note(.block) }
                try? port.send(1)
                try? signalPort.send()
                manualSource.signal()
                pipe.send()
                let timer = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in note(.timer) }
                loop.add(timer, forMode: .default)
            }
            try start(hog, on: loop, hogPipe, hogging)
            loop.add(port, forMode: .default) { _ in note(.port) }
            loop.add(signalPort, forMode: .default) { note(.signalPort) }
            loop.add(manualSource, forMode: .default)
            let descriptor = DescriptorSource(pipe.near, interest: .read) { _, _ in
                pipe.drain()
                note(.descriptor)
            }
            try loop.add(descriptor, forMode: .default)
            #expect(loop.run(in: .default) == .stopped)
            #expect(Set(served.entries) == Set(Hog.allCases))
        }
    }

    @Test func `a port that is always full of quick messages does not starve another one`() throws {
        try starvesNoPort(backlog: 300) {}
    }

    @Test func `a port whose messages take long does not starve another one`() throws {
        try starvesNoPort(backlog: 2) { work() }
    }

    /// Keeps a port busy with `backlog` messages, because each delivery sends another one, and expects that another port is served.
    private func starvesNoPort(backlog: Int, _ body: @escaping @Sendable () -> Void) throws {
        try onLoopThread { loop in
            let busy = Port<Int>(queueLimit: .unlimited)
            let quiet = Port<Int>()
            var delivered = 0
            loop.add(busy, forMode: .default) { number in
                body()
                delivered += 1
                if delivered < 2_000 { try? busy.send(number) } else { loop.stop() }
            }
            loop.add(quiet, forMode: .default) { _ in loop.stop() }
            try busy.send(contentsOf: 0..<backlog)
            try quiet.send(1)
            loop.run()
            #expect(delivered < 1_000)
        }
    }

    /// The number of entries in each pass.
    private func perPass(_ passes: [Int]) -> [Int] {
        Dictionary(grouping: passes, by: { $0 }).sorted { $0.key < $1.key }.map(\.value.count)
    }

    // Guarantees: A pass serves a limited amount of work before it checks timers and descriptors again, so neither can be starved.
    @Test func `a pass performs at most its budget of blocks, and the next one goes on`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            for _ in 0..<1_000 { loop.perform { log.add(loop.statistics.passes) } }
            loop.run()
            #expect(log.entries.count == 1_000)
            #expect(perPass(log.entries).allSatisfy { $0 <= 128 })
            #expect(log.entries == log.entries.sorted())
        }
    }

    // Guarantees: A pass serves a limited amount of work before it checks timers and descriptors again, so neither can be starved.
    @Test func `a pass delivers at most its budget of messages, of all ports together`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            for _ in 0..<3 {
                let port = Port<Int>()
                loop.add(port, forMode: .default) { _ in log.add(loop.statistics.passes) }
                try port.send(contentsOf: 0..<500)
            }
            while log.entries.count < 1_500 { loop.run(mode: .default, before: .distantFuture) }
            #expect(log.entries.count == 1_500)
            #expect(perPass(log.entries).allSatisfy { $0 <= 128 })
        }
    }

    // Guarantees: Timers and descriptors get their turn, however many blocks and messages arrive.
    @Test func `blocks and messages that take long end the pass's budget by their time`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            for _ in 0..<10 {
                loop.perform {
                    work()
                    log.add(loop.statistics.passes)
                }
            }
            loop.run()
            #expect(perPass(log.entries) == [2, 2, 2, 2, 2])
        }
        try onLoopThread { loop in
            let log = Log<Int>()
            let port = Port<Int>()
            loop.add(port, forMode: .default) { _ in
                work()
                log.add(loop.statistics.passes)
            }
            try port.send(contentsOf: 0..<10)
            while log.entries.count < 10 { loop.run(mode: .default, before: .distantFuture) }
            #expect(perPass(log.entries) == [2, 2, 2, 2, 2])
        }
    }

    @Test func `a pass performs the blocks that were there when a step began, and no more`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            @Sendable func again() {
                log.add(loop.statistics.passes)
                if log.entries.count < 20 { loop.perform { again() } }
            }
            loop.perform { again() }
            loop.run()
            // One block runs at the beginning of the pass, and one at its end.
            #expect(perPass(log.entries) == Array(repeating: 2, count: 10))
        }
    }

    @Test func `a pass delivers the messages that were there when the step began, and no more`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let port = Port<Int>()
            loop.add(port, forMode: .default) { number in
                log.add(loop.statistics.passes)
                if number > 0 { try? port.send(number - 1) }
            }
            try port.send(9)
            while log.entries.count < 10 { loop.run(mode: .default, before: .distantFuture) }
            #expect(perPass(log.entries) == Array(repeating: 1, count: 10))
        }
    }
}

/// Keeps the processor busy for the time of a budget.
private func work() {
    let end = Moment.now().advanced(by: Budget.nanoseconds)
    while Moment.now() < end {}
}

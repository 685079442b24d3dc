import Notifications
import RunLoopsTesting
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Several threads of a simulation, one of which runs at a time.
@Suite struct SimulatedThreadsTests {
    /// The entries that two threads add to one log, in the order that the seed decides.
    private static func log(seed: UInt64) throws -> [String] {
        try RunLoopSimulation.run(seed: seed) { simulation in
            let log = Log<String>()
            let threads = try ["a", "b"].map { try RunLoopThread(name: $0) }
            for thread in threads {
                let source = Log<Int>()
                let name = thread.name
                @Sendable func next() {
                    log.add("\(name)\(source.entries.count)")
                    source.add(0)
                    if source.entries.count < 5 { thread.runLoop.perform(next) }
                }
                thread.runLoop.perform(next)
            }
            simulation.settle()
            return log.entries
        }
    }

    @Test func `a thread that serves the process is not the simulation's`() throws {
        let thread = try RunLoopSimulation.run { _ in try RunLoopThread(servingProcess: "serves") }
        try thread.runLoop.performAndWait(before: .now + .seconds(100)) {}
        thread.stop()
        thread.join()
    }

    // Guarantees: The same seed gives the same order, as long as everything that happens is in the simulation.
    @Test func `the same seed gives the same order, and others give others`() throws {
        var orders: Set<[String]> = []
        for seed in 0..<20 as Range<UInt64> {
            let first = try SimulatedThreadsTests.log(seed: seed)
            #expect(try SimulatedThreadsTests.log(seed: seed) == first)
            #expect(first.count == 10)
            // Each thread keeps its own order.
            #expect(first.filter { $0.hasPrefix("a") } == (0..<5).map { "a\($0)" })
            orders.insert(first)
        }
        #expect(orders.count > 5)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `a thread that is started runs its loop, and can be waited for`(
        seed: UInt64
    ) throws {
        try RunLoopSimulation.run(seed: seed) { simulation in
            let worker = try RunLoopThread(name: "worker")
            let inner = try worker.runLoop.performAndWait { try RunLoopThread(name: "inner") }
            #expect(try inner.runLoop.performAndWait { 42 } == 42)
            // The first worker waits for the second, which answers at once.
            let answer = try worker.runLoop.performAndWait { try inner.runLoop.performAndWait { 6 * 7 } }
            #expect(answer == 42)
            let start = simulation.now
            inner.stop()
            #expect(inner.join())
            #expect(!inner.runLoop.perform {})
            #expect(simulation.now == start)
        }
    }

    @Test func `a wait for another thread lets time pass, up to its deadline`() throws {
        try RunLoopSimulation.run { simulation in
            let start = simulation.now
            let worker = try RunLoopThread(name: "worker")
            let loop = worker.runLoop
            // The handler of the worker does not return for ten seconds.
            loop.perform { loop.run(in: .init("busy elsewhere"), until: RunLoop.now + .seconds(10)) }
            loop.perform(inModes: [.init("busy elsewhere")]) {
                let keep = Timer(timeInterval: .seconds(100), repeats: true) { _ in }
                loop.add(keep, forMode: .init("busy elsewhere"))
            }
            simulation.settle()
            #expect(throws: PerformError.self) {
                try loop.performAndWait(before: RunLoop.now + .seconds(1)) {}
            }
            #expect(simulation.now == start + .seconds(1))
            #expect(try loop.performAndWait { simulation.now } == start + .seconds(10))
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `messages of several senders arrive, once and in order`(
        seed: UInt64
    ) throws {
        try RunLoopSimulation.run(seed: seed) { simulation in
            // The queue is small, so that senders wait.
            let port = Port<(sender: Int, number: Int)>(queueLimit: 2)
            let received = Log<(sender: Int, number: Int)>()
            let receiver = try RunLoopThread(name: "receiver")
            try receiver.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .default) { received.add($0) }
            }
            for sender in 0..<3 {
                let thread = try RunLoopThread(name: "sender \(sender)")
                thread.runLoop.perform {
                    for number in 0..<10 {
                        do { try port.send((sender, number), before: .distantFuture) } catch {
                            Issue.record("\(error)")
                        }
                    }
                }
            }
            simulation.settle()
            for sender in 0..<3 {
                #expect(received.entries.filter { $0.sender == sender }.map(\.number) == Array(0..<10))
            }
        }
    }

    @Test func `a defect that needs a certain order is found by some seed, always the same`() throws {
        /// The sum that two threads compute when each reads it in one block and writes it in another.
        func sum(seed: UInt64) throws -> Int {
            try RunLoopSimulation.run(seed: seed) { simulation in
                let total = Shared()
                for name in ["a", "b"] {
                    let loop = try RunLoopThread(name: name).runLoop
                    loop.perform {
                        let read = total.count
                        loop.perform { total.value.store(read + 1, ordering: .relaxed) }
                    }
                }
                simulation.settle()
                return total.count
            }
        }
        let sums = try (0..<30 as Range<UInt64>).map { try sum(seed: $0) }
        #expect(Set(sums) == [1, 2])
        #expect(try (0..<30 as Range<UInt64>).map { try sum(seed: $0) } == sums)
    }

    @Test func `timers of several loops fire in the order of their dates`() throws {
        try RunLoopSimulation.run(seed: 3) { simulation in
            let log = Log<Int>()
            let threads = try (0..<3).map { try RunLoopThread(name: "\($0)") }
            for number in 1...30 {
                threads[number % 3].runLoop.perform(after: .seconds(31 - number)) { log.add(31 - number) }
            }
            simulation.advance(by: .seconds(30))
            #expect(log.entries == Array(1...30))
        }
    }

    @Test func `notifications come to the loop of the observer`() throws {
        try RunLoopSimulation.run(seed: 1) { simulation in
            let center = NotificationCenter()
            let worker = try RunLoopThread(name: "worker")
            let seen = Log<Bool>()
            let token = center.addObserver(forName: nil, on: worker.runLoop) { _ in
                seen.add(worker.runLoop.isCurrent)
            }
            for _ in 0..<3 { center.post(name: .init("posted")) }
            #expect(seen.entries.isEmpty)
            simulation.settle()
            #expect(seen.entries == [true, true, true])
            token.remove()
        }
    }

    @Test func `descriptors are looked at, and so is what threads outside send`() throws {
        try RunLoopSimulation.run { simulation in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let worker = try RunLoopThread(name: "reader")
            let bytes = Shared()
            try worker.runLoop.performAndWait {
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                    bytes.value.add(wire.drain(), ordering: .relaxed)
                }
                try RunLoop.current.add(source, forMode: .default)
            }
            wire.send(3)
            simulation.settle()
            #expect(bytes.count == 3)

            let outside = Port<Int>()
            var got: [Int] = []
            RunLoop.current.add(outside, forMode: .default) { got.append($0) }
            let stranger = try BareThread { #expect(throws: Never.self) { try outside.send(5) } }
            #expect(RunLoop.current.run(mode: .default, before: .distantFuture))
            #expect(got == [5])
            stranger.join()
        }
    }

    @Test func `threads are ended with the body, also those that wait`() throws {
        let ended = Log<String>()
        try RunLoopSimulation.run { _ in
            for name in ["a", "b"] {
                let thread = try RunLoopThread(name: name)
                try thread.runLoop.performAndWait { RunLoop.current.addEndHandler { ended.add(name) } }
                thread.runLoop.perform { thread.runLoop.run(until: .distantFuture) }
            }
            try RunLoopThread.detach(name: "c") { loop in
                loop.add(ManualSource {}, forMode: .default)
                loop.run()
                ended.add("c")
            }
        }
        #expect(Set(ended.entries) == ["a", "b", "c"])
    }
}

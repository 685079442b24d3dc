import TestSupport
import Testing

@testable import RunLoops

/// The graph of waits as a value, in which threads are numbers, and thread *n* holds the loop *n*.
@Suite struct WaitGraphTests {
    @Test func `a wait for a thread that does not wait closes no circle`() {
        var graph = WaitGraph()
        #expect(graph.enter(wait(of: 1, for: [2])) == nil)
        #expect(graph.enter(wait(of: 3, for: [2])) == nil)
    }

    @Test func `a chain of any length is no circle until its end waits for a thread of it`() {
        var graph = WaitGraph()
        let length = 5_000
        let chain = (0..<length).map { wait(of: $0, for: [$0 + 1]) }
        for wait in chain { #expect(graph.enter(wait) == nil) }
        let last = wait(of: length, for: [length / 2])
        let circle = graph.enter(last)
        #expect(names(circle ?? []) == [length] + Array(length / 2..<length))
        #expect(graph.enter(wait(of: length, for: [length + 1])) == nil)
    }

    @Test func `a thread that waits for itself is a circle of one`() {
        var graph = WaitGraph()
        let circle = graph.enter(wait(of: 1, for: [2, 1]))
        #expect(names(circle ?? []) == [1])
        #expect(graph.isEmpty)
    }

    @Test func `the circle that is reported is the shortest one`() {
        var graph = WaitGraph()
        for wait in [wait(of: 1, for: [2]), wait(of: 2, for: [3]), wait(of: 3, for: [0])] {
            #expect(graph.enter(wait) == nil)
        }
        let circle = graph.enter(wait(of: 0, for: [1, 3]))
        #expect(names(circle ?? []) == [0, 3])
    }

    @Test func `a wait that has left is in no circle any more`() {
        var graph = WaitGraph()
        let wait = wait(of: 1, for: [2])
        #expect(graph.enter(wait) == nil)
        graph.leave(wait)
        #expect(graph.isEmpty)
        #expect(graph.enter(self.wait(of: 2, for: [1])) == nil)
        // Leaving twice is harmless, even if others wait for the same target.
        graph.leave(wait)
        #expect(graph.enter(self.wait(of: 1, for: [2])) != nil)
    }

    @Test func `a wait that is over is in no circle, though its thread does not know it yet`() {
        let isOver = Shared()
        let served = ThreadWait(nil, [.loop(1)], in: "served", .init(#fileID, 0)) {
            isOver.count == 0 ? [.loop(2)] : []
        }
        var graph = WaitGraph()
        #expect(graph.enter(served) == nil)
        #expect(graph.enter(wait(of: 2, for: [1])) != nil)
        isOver.increment()
        #expect(graph.enter(wait(of: 2, for: [1])) == nil)
    }

    @Test func `a wait for a set that another thread has taken over is in no circle with its old thread`() {
        let server = Shared(1)
        var graph = WaitGraph()
        let old = ThreadWait(nil, [.thread(1)], in: "old", .init(#fileID, 0)) { [.loop(2)] }
        #expect(graph.enter(old) == nil)
        let asking = ThreadWait(nil, [.loop(2)], in: "asking", .init(#fileID, 0)) {
            [.thread(UInt(server.count))]
        }
        #expect(graph.enter(asking)?.count == 2)
        server.increment()
        #expect(graph.enter(asking) == nil)
    }

    @Test func `a thread that holds several targets is found by each of them`() {
        let targets: HeldTargets = [.loop(1), .mainLoop, .call(7), .call(7)]
        #expect(targets.all == [.loop(1), .mainLoop, .call(7), .call(7)])
        for wanted in targets.all {
            var graph = WaitGraph()
            let main = ThreadWait(nil, targets, in: "main", .init(#fileID, 0)) { [.loop(2)] }
            #expect(graph.enter(main) == nil)
            let other = ThreadWait(nil, [.loop(2)], in: "other", .init(#fileID, 0)) { [wanted] }
            let circle = graph.enter(other)
            #expect(circle?.count == 2)
            graph.leave(main)
            #expect(graph.isEmpty)
        }
    }

    @Test func `a circle is described in words, even through threads without a loop`() {
        let held: [HeldTargets] = [[.mainLoop], [.call(7)]]
        let waits = held.enumerated().map { line, targets in
            ThreadWait(nil, targets, in: "Type.wait", .init("Module/File.swift", line)) { [] }
        }
        #expect(
            WaitCircle(waits).description == """
                the main thread waits in Type.wait (Module/File.swift:0) for a thread without run loop, which waits \
                in Type.wait (Module/File.swift:1) for the main thread
                """)
    }

    @Test func `a circle that ends by itself may be entered, and others are still seen`() {
        var graph = WaitGraph()
        #expect(graph.enter(wait(of: 1, for: [2])) == nil)
        graph.enterUnchecked(wait(of: 2, for: [1]))
        #expect(graph.enter(wait(of: 3, for: [1])) == nil)
        #expect(graph.enter(wait(of: 4, for: [3])) == nil)
        let circle = graph.enter(wait(of: 2, for: [4]))
        #expect(names(circle ?? []) == [2, 4, 3, 1])
    }

    @Test func `among three threads, circles are found for all waits in all orders`() {
        // One order suffices, because the choices include all orders under other numbers.
        for choice in 0..<512 {
            // Three bits for each thread, which represent the threads for which it waits.
            check(
                (0..<3).map { thread in
                    .enters(thread, (0..<3).filter { choice >> (3 * thread + $0) & 1 == 1 })
                })
        }
    }

    // Guarantees: A wait that is in no circle is never refused; here, a request counts as a wait for the loop that has its port,
    // whichever thread has the right to answer, and a wait for a port in a ``PortSet`` counts as a wait for the thread that serves
    // the set at that moment.
    @Test(arguments: 0..<300) func `in any order of waits, exactly the circles are refused`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let threads = Int.random(in: 2...9, using: &random)
        let widest = Int.random(in: 1...3, using: &random)
        check(
            (0..<200).map { _ in
                let thread = Int.random(in: 0..<threads, using: &random)
                if Int.random(in: 0..<3, using: &random) == 0 { return .leaves(thread) }
                let count = Int.random(in: 0...widest, using: &random)
                return .enters(thread, (0..<count).map { _ in .random(in: 0..<threads, using: &random) })
            })
    }

    private enum Event {
        case enters(Int, [Int])
        case leaves(Int)
    }

    /// Applies events, and compares each result with a search through a plain table.
    private func check(_ events: [Event]) {
        var graph = WaitGraph()
        var entered: [Int: ThreadWait] = [:]
        var table: [Int: [Int]] = [:]
        // Mistakes are counted, because an expectation for each step would take longer than the steps.
        var mistakes = 0
        for event in events {
            switch event {
            case .leaves(let thread):
                if let wait = entered.removeValue(forKey: thread) { graph.leave(wait) }
                table[thread] = nil
            case .enters(let thread, let targets):
                // A thread has at most one wait.
                if entered[thread] != nil { continue }
                let wait = wait(of: thread, for: targets)
                table[thread] = targets
                let circle = graph.enter(wait)
                let distance = distance(from: thread, backIn: table)
                if circle?.count != distance { mistakes += 1 }
                guard let circle else {
                    entered[thread] = wait
                    continue
                }
                table[thread] = nil
                let way = names(circle)
                if way.first != thread { mistakes += 1 }
                for (from, to) in zip(way, way.dropFirst() + [thread]) {
                    let known = from == thread ? targets : table[from] ?? []
                    if !known.contains(to) { mistakes += 1 }
                }
            }
        }
        for wait in entered.values { graph.leave(wait) }
        #expect(mistakes == 0 && graph.isEmpty)
    }

    /// The smallest number of waits that lead from a thread back to it, or nil if there is no such path.
    private func distance(from thread: Int, backIn table: [Int: [Int]]) -> Int? {
        var front: Set<Int> = [thread]
        for length in 1...20 {
            front = Set(front.flatMap { table[$0] ?? [] })
            if front.contains(thread) { return length }
        }
        return nil
    }

    private func wait(of thread: Int, for targets: [Int]) -> ThreadWait {
        ThreadWait(nil, [.loop(UInt(thread))], in: "wait", .init(#fileID, thread)) {
            targets.map { .loop(UInt($0)) }
        }
    }

    /// The thread of each wait, which is stored as the line of the wait.
    private func names(_ circle: [ThreadWait]) -> [Int] { circle.map { Int($0.origin.line) } }
}

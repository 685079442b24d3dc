import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The budget that all inputs of one step of a pass share.
@Suite struct SharedBudgetTests {
    /// The kinds of inputs that are served in the step of the ports.
    enum Kind: CaseIterable {
        case port, signalPort, library, servedInput
    }

    /// Greedy inputs of one kind, which have more to serve whenever they were served.
    private final class Greedy {
        /// The inputs whose steps were made, in order.
        var steps: [Int] = []
        private var wires: [Wire] = []
        private var ports: [any AnyObject] = []
        private var sources: [LibrarySource] = []
        private var inputs: [ServedInput] = []

        init(_ count: Int, of kind: Kind, on loop: RunLoop) throws {
            for number in 0..<count {
                switch kind {
                case .port:
                    let port = Port<Int>(queueLimit: .unlimited)
                    loop.add(port, forMode: .default) { [unowned self, unowned port] message in
                        steps.append(number)
                        try? port.send(message)
                    }
                    try port.send(contentsOf: 0..<2 * Budget.messages)
                    ports.append(port)
                case .signalPort:
                    let port = Port<Void>()
                    loop.add(port, forMode: .default) { [unowned self, unowned port] in
                        steps.append(number)
                        try? port.send()
                    }
                    try port.send()
                    ports.append(port)
                case .library:
                    let source = try LibrarySource { [unowned self] source in
                        while source.spend() { steps.append(number) }
                    }
                    source.deadline = .now
                    try loop.add(source, forMode: .default)
                    sources.append(source)
                case .servedInput:
                    let wire = try Wire.pipe()
                    wires.append(wire)
                    let input = ServedInput(wire.near, SourceLocation(#fileID, #line), in: loop)
                    try input.join(.default, server: Server { [unowned self] in steps.append(number) })
                    input.becameReady()
                    inputs.append(input)
                }
            }
        }

        /// Returns the inputs that the next pass serves, with the number of steps of each.
        func nextPass(of loop: RunLoop) -> [(input: Int, steps: Int)] {
            steps = []
            loop.pass()
            var turns: [(input: Int, steps: Int)] = []
            for step in steps {
                if turns.last?.input == step {
                    turns[turns.count - 1].steps += 1
                } else {
                    turns.append((step, 1))
                }
            }
            return turns
        }

        func end() {
            for source in sources { source.invalidate() }
            for input in inputs { input.leave() }
            for wire in wires { wire.close() }
        }
    }

    /// Makes steps, none of which is a call of a handler, until the budget refuses one.
    private final class Server: InputServer {
        private let step: () -> Void
        let parts: [InspectedPart] = []

        init(_ step: @escaping () -> Void) { self.step = step }

        func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
            while budget.spend() { step() }
            return Served(hasMore: true)
        }

        func didLeaveLoop() {}
    }

    // Guarantees: However many inputs the step of the ports has, one pass serves no more of them than the budget of the step
    // allows.
    @Test(arguments: Kind.allCases)
    func `a thousand greedy inputs cost a pass no more than one`(kind: Kind) throws {
        try onLoopThread { loop in
            // The libraries and the served inputs need descriptors.
            let count = kind == .port || kind == .signalPort ? 1_000 : 200
            let greedy = try Greedy(count, of: kind, on: loop)
            defer { greedy.end() }
            for _ in 0..<3 {
                let steps = greedy.nextPass(of: loop).map(\.steps).reduce(0, +)
                #expect((1...Budget.messages).contains(steps))
            }
        }
    }

    // Guarantees: An input that has more to serve waits behind the other inputs that wait.
    @Test(arguments: Kind.allCases)
    func `an input that has more to serve rejoins at the end, so that each has its turn`(kind: Kind) throws {
        try onLoopThread { loop in
            let greedy = try Greedy(5, of: kind, on: loop)
            defer { greedy.end() }
            var turns: [Int] = []
            while turns.count < 20 { turns += greedy.nextPass(of: loop).map(\.input) }
            #expect(turns.prefix(20) == Array((0..<4).map { _ in Array(0..<5) }.joined())[...])
        }
    }

    // Guarantees: An input that has more to serve waits behind the other inputs that wait.
    @Test(arguments: [Kind.library, .servedInput])
    func `an input that is served makes at least one step, however late the pass is`(kind: Kind) throws {
        try onLoopThread { loop in
            let greedy = try Greedy(3, of: kind, on: loop)
            defer { greedy.end() }
            let port = Port<Int>()
            // Each message takes the whole time of the budget, so that the clock has to be read to see that it is spent.
            loop.add(port, forMode: .default) { _ in
                let end = Moment.now().advanced(by: 2 * Budget.nanoseconds)
                while Moment.now() < end {}
            }
            var served: Set<Int> = []
            for _ in 0..<20 where served.count < 3 {
                try port.send(contentsOf: [1, 2, 3])
                served.formUnion(greedy.nextPass(of: loop).map(\.input))
            }
            #expect(served == [0, 1, 2])
        }
    }

    @Test func `a service that was refused a step is called again, although no descriptor is ready`() throws {
        try onLoopThread { loop in
            var (work, calls) = (3 * Budget.messages, 0)
            let source = try LibrarySource { source in
                calls += 1
                while work > 0, source.spend() { work -= 1 }
            }
            source.deadline = .now
            try loop.add(source, forMode: .default)
            loop.add(
                Timer(timeInterval: .seconds(3_600), repeats: false) { _ in }, forMode: .default)
            while work > 0 { loop.pass() }
            #expect(calls >= 3)
            let last = calls
            for _ in 0..<3 { loop.pass() }
            #expect(calls == last)
            source.invalidate()
        }
    }

    @Test func `reports that a library was refused are not lost to the reports of other descriptors`() throws
    {
        try onLoopThread { loop in
            // More descriptors than one look at the kernel reports, none of which is ever drained.
            let wires = try (0..<100).map { _ in try Wire.pipe() }
            defer { for wire in wires { wire.close() } }
            var reported: [CInt] = []
            let source = try LibrarySource { source in
                // Two reports for each call: the others are refused.
                for _ in 0..<2 {
                    guard let report = source.nextReport() else { return }
                    reported.append(report.descriptor)
                }
                while source.spend() {}
            }
            for wire in wires {
                wire.send()
                source.setInterest(.read, of: wire.near)
            }
            try loop.add(source, forMode: .default)
            while reported.count < 400 { loop.pass() }
            for round in 0..<4 { #expect(Set(reported[round * 100..<(round + 1) * 100]).count == 100) }
            source.invalidate()
        }
    }

    @Test func `a run inside a service has a budget of its own, and leaves the budget of the service`() throws
    {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            var steps = 0
            let source = try LibrarySource { source in
                if steps > 0 { return }
                try? port.send(contentsOf: 0..<100)
                while received < 100 {
                    loop.run(in: .default, until: .distantPast, returnAfterSourceHandled: true)
                }
                while source.spend() { steps += 1 }
            }
            source.deadline = .now
            try loop.add(source, forMode: .default)
            loop.pass()
            #expect(received == 100)
            #expect(steps >= 1)
            source.invalidate()
        }
    }
}

internal import CThreadControl

/// Measures enqueueing a notification while a hundred or a hundred thousand others wait.
///
/// Read the ratio of both costs first. The ratio is large if the queue searches for notifications to merge with.
struct Enqueueing: Measurement {
    /// The numbers of waiting notifications.
    private static let few = 100
    private static let many = 100_000
    /// The kinds of notifications that are enqueued.
    private enum Kind: String, CaseIterable {
        case mergedWithFew = "merged with one of 32 of those that wait"
        case mergedWithAny = "merged with any of those that wait"
        case added = "like none of those that wait"
    }

    private struct Key: Hashable {
        let subject: EnqueueSubject
        let kind: Kind
        let pending: Int
    }

    private let queues: [(subject: EnqueueSubject, pending: Int, queue: any Enqueuer)]
    /// The number of notifications that are timed in a round.
    private let count: Int
    /// The time of an enqueue, in nanoseconds.
    private var times = RoundFigures<Key>()

    private(set) var stage = ""

    init(in session: Session) {
        let count = session.isQuick ? 512 : 2048
        self.count = count
        queues = [Self.few, Self.many].flatMap { pending in
            EnqueueSubject.allCases.map { ($0, pending, $0.make(pending: pending, others: count)) }
        }
        for (_, _, queue) in queues {
            queue.thread.runAndWait { queue.fill() }
        }
    }

    mutating func measure(round: Int, in session: Session) throws(Miscount) {
        for (subject, pending, queue) in queues.turns(of: round) {
            queue.thread.number.pin(to: [session.machine.processors[0]])
            let batch = subject == .foundation ? 1 : 32
            for kind in Self.kinds(of: subject) {
                stage = "\(subject.rawValue), \(pending) waiting, \(kind.rawValue)"
                let time = try onThread(of: queue) { [count] () throws(Miscount) in
                    switch kind {
                    case .mergedWithFew:
                        Self.timeMerging(
                            with: queue, ScatteredIndices(count: 32, in: pending), count: count, batch: batch)
                    case .mergedWithAny:
                        Self.timeMerging(
                            with: queue, ScatteredIndices(count: pending, in: pending), count: count,
                            batch: batch)
                    case .added: try Self.timeAdding(to: queue, pending: pending, count: count)
                    }
                }
                if round >= 0 { times.add(time, of: Key(subject: subject, kind: kind, pending: pending)) }
            }
        }
    }

    /// The kinds that a subject is measured with.
    private static func kinds(of subject: EnqueueSubject) -> [Kind] {
        switch subject {
        case .own: Kind.allCases
        // Foundation's queue does the same work for all kinds, and filling it again takes too long for each round.
        case .foundation: [.mergedWithAny]
        case .dictionary: [.mergedWithFew, .mergedWithAny]
        }
    }

    /// Empties all queues, and counts the posts.
    mutating func end(in session: Session) throws(Miscount) {
        for (subject, pending, queue) in queues {
            stage = "\(subject.rawValue), \(pending) waiting, the end"
            _ = try onThread(of: queue) { () throws(Miscount) in
                try queue.empty()
                return 0
            }
        }
    }

    private func onThread(
        of queue: any Enqueuer, _ body: @escaping @Sendable () throws(Miscount) -> Double
    ) throws(Miscount) -> Double {
        try runloop_bench.measure(on: { queue.thread.runAndWait($0) }, body)
    }

    /// Returns the nanoseconds of an enqueue, over `count` enqueues or as many as fit into three milliseconds.
    private static func timeMerging(
        with queue: any Enqueuer, _ scatter: consuming ScatteredIndices, count: Int, batch: Int
    ) -> Double {
        var scatter = scatter
        return timeEach(of: count, inBatchesOf: batch) { queue.merge(batch, &scatter) }
    }

    /// Returns the nanoseconds of an enqueue.
    ///
    /// The queue is emptied and filled again before the new notifications exceed a third of the waiting ones.
    private static func timeAdding(
        to queue: any Enqueuer, pending: Int, count: Int
    ) throws(Miscount) -> Double {
        let batch = 32
        var added = 0
        var time: Int64 = 0
        for done in stride(from: 0, to: count, by: batch) {
            if done > 0, added + batch > pending / 3 {
                try queue.empty()
                queue.fill()
                added = 0
            }
            let start = bench_now()
            queue.add(batch)
            time += bench_now() - start
            added += batch
        }
        try queue.empty()
        queue.fill()
        return Double(time) / Double(count)
    }

    var remarks: [String] {
        [
            "Notifications are enqueued on the thread of a loop that does not run meanwhile. Afterwards the loop runs, and its "
                + "posts are counted. Each notification that waits has a name of its own, and \"any\" takes them in a random "
                + "order: with many, neither the notifications nor their names are in the cache.",
            "Foundation's queue searches all notifications that wait. It was filled without coalescing.",
            "The dictionary has as many names, and only finds one and counts: its quotient is the cost of memory.",
        ]
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] { [table] }

    private var table: Table {
        var table = Table(
            title: "Enqueue with coalescing on name and sender (ns)",
            columns: [
                .ranged("100 wait", "few", .nanoseconds), .ranged("100,000 wait", "many", .nanoseconds),
                .ranged("quotient", "ratio", .ratio),
            ])
        for subject in EnqueueSubject.allCases {
            for kind in Kind.allCases {
                guard let few = times.spread(Key(subject: subject, kind: kind, pending: Self.few)) else {
                    continue
                }
                var row = Table.Row(name: "\(subject.rawValue), \(kind.rawValue)")
                row.add(few, as: "few")
                row.add(times.spread(Key(subject: subject, kind: kind, pending: Self.many)), as: "many")
                row.add(ratio(subject, kind), as: "ratio")
                table.rows.append(row)
            }
        }
        return table
    }

    /// A bar chart of enqueues a second.
    private var chart: Chart {
        .rates(
            "Enqueue with coalescing", of: "notifications that merge with any of those that wait",
            groups: EnqueueSubject.allCases.map { subject in
                Chart.BarGroup(
                    name: subject.rawValue, role: subject.role,
                    bars: [(Self.few, "100 wait"), (Self.many, "100,000 wait")].compactMap { pending, name in
                        times.spread(Key(subject: subject, kind: .mergedWithAny, pending: pending)) {
                            1e9 / $0
                        }
                        .map { Chart.Bar(name: name, value: $0) }
                    })
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        Kind.allCases.map { kind in
            let memory = ratio(.dictionary, kind)?.median
            return TargetRow(
                "B-N3", "enqueue with coalescing, \(kind.rawValue), 100,000 ÷ 100", .atMost(2),
                stretch: .atMost(1.2), figure: ratio(.own, kind),
                note: memory.map { "a dictionary's look-up: \(NumberFormat.ratio.text($0))" })
        }
    }

    private func ratio(_ subject: EnqueueSubject, _ kind: Kind) -> Spread? {
        times.ratio(
            Key(subject: subject, kind: kind, pending: Self.many),
            to: Key(subject: subject, kind: kind, pending: Self.few))
    }
}

/// A queue in which many notifications wait, each with a different name.
///
/// All methods are called on the queue's thread.
protocol Enqueuer: AnyObject, Sendable {
    /// The queue's thread.
    var thread: WorkerThread { get }

    /// Fills the empty queue.
    func fill()

    /// Enqueues notifications, each of which is merged with a waiting notification.
    ///
    /// - Parameters:
    ///   - count: The number of notifications.
    ///   - scatter: Picks the waiting notifications to merge with.
    func merge(_ count: Int, _ scatter: inout ScatteredIndices)

    /// Enqueues notifications that match no waiting notification.
    func add(_ count: Int)

    /// Runs the loop until no notification waits.
    ///
    /// - Throws: ``Miscount`` if the number of posts differs from the number of waiting notifications.
    func empty() throws(Miscount)
}

/// The queues that are compared.
enum EnqueueSubject: String, CaseIterable {
    case own = "RunLoops queue"
    case foundation = "Foundation queue"
    case dictionary = "look-up in a Swift Dictionary"

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .own: .ours
        case .foundation: .peer
        case .dictionary: .yardstick
        }
    }

    /// Makes a queue for `pending` waiting notifications.
    func make(pending: Int, others: Int) -> any Enqueuer {
        switch self {
        case .own: QueueEnqueuer(pending: pending, others: others)
        case .foundation: FoundationEnqueuer(pending: pending)
        case .dictionary: DictionaryEnqueuer(pending: pending)
        }
    }
}

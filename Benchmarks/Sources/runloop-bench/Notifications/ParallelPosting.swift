internal import CThreadControl
internal import Synchronization

/// Measures contention between threads that post different names to one center.
///
/// Read the ratio of four threads to one. With two processors, the ratio is at most two.
struct ParallelPosting: Measurement {
    /// The centers that are compared.
    enum Subject: String, CaseIterable {
        case own = "RunLoops post"
        case foundation = "Foundation post"

        fileprivate var role: Chart.Role { self == .own ? .ours : .peer }

        /// Makes a center with one observer for each name, and one poster for each name.
        fileprivate func make(names: [String], calls: [CallCounter]) -> [any Poster] {
            switch self {
            case .own: NamePoster.several(names: names, calls: calls)
            case .foundation: FoundationNamePoster.several(names: names, calls: calls)
            }
        }
    }

    private static let threadCounts = [1, 4]

    private struct Key: Hashable {
        let subject: Subject
        let threads: Int
    }

    private let threads = (0..<4).map { _ in WorkerThread() }
    /// The posts a second of all threads together.
    private var rates = RoundFigures<Key>()

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws(Miscount) {
        // The threads share the first two processors. The main thread only waits, and can use all processors.
        let processors = session.machine.processors.prefix(2)
        for (index, thread) in threads.enumerated() {
            thread.number.pin(to: [processors[index % processors.count]])
        }
        ThreadNumber.current.pin(to: session.machine.processors)
        for subject in Subject.allCases.turns(of: round) {
            // Each round has new names, because two names can collide in a table by chance, but not in every round.
            let names = threads.indices.map { "name \($0) of round \(round)" }
            let calls = names.map { _ in CallCounter() }
            let posters = subject.make(names: names, calls: calls)
            for count in Self.threadCounts {
                stage = "\(subject.rawValue), threads: \(count)"
                let rate = try rate(
                    Array(posters[..<count]), calls,
                    length: session.length(.milliseconds(10), quick: .milliseconds(4)))
                if round >= 0 { rates.add(rate, of: Key(subject: subject, threads: count)) }
            }
        }
    }

    /// Runs each poster on its own thread for `length`, and returns the posts a second.
    private func rate(
        _ posters: [any Poster], _ calls: [CallCounter], length: Duration
    ) throws(Miscount) -> Double {
        let before = calls.map(\.count)
        let start = StartingGate()
        let posted = Mutex([Int](repeating: 0, count: calls.count))
        for (index, poster) in posters.enumerated() {
            threads[index].run {
                let end = start.wait() + length.nanoseconds
                var posts = 0
                repeat {
                    poster.post(64)
                    posts += 64
                } while bench_now() < end
                posted.withLock { $0[index] = posts }
            }
        }
        start.open(threads: posters.count)
        for thread in threads[..<posters.count] { thread.wait() }
        let end = bench_now()
        let posts = posted.withLock { $0 }
        for index in calls.indices {
            try Miscount.check(expected: posts[index], found: calls[index].count - before[index])
        }
        return Double(posts.reduce(0, +)) * 1e9 / Double(end - start.time)
    }

    var remarks: [String] {
        [
            "Four threads, two on each of two CPUs, each of which posts a name of its own with one observer. Each "
                + "round has other names."
        ]
    }

    var charts: [Chart] { [chart] }

    var tables: [Table] { [table] }

    private var table: Table {
        var table = Table(
            title: "Posts of different names to one center (millions of posts a second)",
            columns: [
                .ranged("1 thread", "one", .millions), .ranged("4 threads", "four", .millions),
                .ranged("4 ÷ 1", "ratio", .ratio),
            ])
        table.rows = Subject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(rates.spread(Key(subject: subject, threads: 1)), as: "one")
            row.add(rates.spread(Key(subject: subject, threads: 4)), as: "four")
            row.add(speedup(subject), as: "ratio")
            return row
        }
        return table
    }

    /// A bar chart of the rates.
    private var chart: Chart {
        .rates(
            "Posts of different names to one center", of: "posts of all threads together",
            groups: Subject.allCases.map { subject in
                Chart.BarGroup(
                    name: subject.rawValue, role: subject.role,
                    bars: Self.threadCounts.compactMap { threads in
                        rates.spread(Key(subject: subject, threads: threads)).map {
                            Chart.Bar(name: threads == 1 ? "1 thread" : "\(threads) threads", value: $0)
                        }
                    })
            })
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-N4", "four threads posting four names ÷ one thread, two CPUs", .atLeast(1.6),
                stretch: .atLeast(1.9), figure: machine.twoProcessorsNote == nil ? speedup(.own) : nil,
                note: machine.twoProcessorsNote)
        ]
    }

    private func speedup(_ subject: Subject) -> Spread? {
        rates.ratio(Key(subject: subject, threads: 4), to: Key(subject: subject, threads: 1))
    }
}

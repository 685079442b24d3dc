internal import CThreadControl

/// Measures a synchronous post, which has called every observer when it returns, while nothing else runs.
///
/// Read "÷ Foundation" of "RunLoops post" with one observer first.
struct Posting: Measurement {
    /// The numbers of observers that each subject is measured with.
    static let observerCounts = [0, 1, 10, 100]

    private struct Key: Hashable {
        let subject: PostSubject
        let observers: Int
    }

    private struct Subject {
        let key: Key
        let poster: any Poster
        let calls: CallCounter

        init(_ key: Key) {
            self.key = key
            calls = CallCounter()
            poster = key.subject.make(observers: key.observers, calls: calls)
        }
    }

    private let subjects: [Subject]
    /// The time of a post, in nanoseconds.
    private var times = RoundFigures<Key>()
    private var allocations = RoundFigures<Key>()

    init() {
        subjects = Self.observerCounts.flatMap { observers in
            PostSubject.allCases.map { Subject(Key(subject: $0, observers: observers)) }
        }
    }

    private(set) var stage = ""

    /// Measures on the main thread, because Foundation's typed messages need the main thread.
    mutating func measure(round: Int, in session: Session) throws(Miscount) {
        ThreadNumber.current.pin(to: [session.machine.processors[0]])
        for subject in subjects.turns(of: round) {
            stage = "\(subject.key.subject.rawValue), observers: \(subject.key.observers)"
            let time = try Self.time(
                subject, length: session.length(.milliseconds(6), quick: .milliseconds(2)))
            // The first round is the warm-up. It also counts the allocations, for which one round is enough.
            if round < 0 {
                allocations.add(try Self.allocations(subject), of: subject.key)
            } else {
                times.add(time, of: subject.key)
            }
        }
    }

    /// Returns the nanoseconds of a post: the median of chunks, which hides interruptions of a few chunks.
    private static func time(_ subject: Subject, length: Duration) throws(Miscount) -> Double {
        // Large enough that the cost of the clock is negligible, and small enough that the round ends in time.
        let chunk = max(16, 256 / (subject.key.observers + 1))
        let before = subject.calls.count
        var chunks: [Double] = []
        var now = bench_now()
        let end = now + length.nanoseconds
        repeat {
            let start = now
            subject.poster.post(chunk)
            now = bench_now()
            chunks.append(Double(now - start) / Double(chunk))
        } while now < end
        try check(subject, posts: chunks.count * chunk, since: before)
        return Spread(chunks)?.median ?? 0
    }

    /// Returns the allocations of one post.
    private static func allocations(_ subject: Subject) throws(Miscount) -> Double {
        let posts = 256
        let before = subject.calls.count
        let count = AllocationCount()
        subject.poster.post(posts)
        let allocations = count.stop()
        try check(subject, posts: posts, since: before)
        return Double(allocations) / Double(posts)
    }

    private static func check(_ subject: Subject, posts: Int, since before: Int) throws(Miscount) {
        try Miscount.check(expected: posts * subject.key.observers, found: subject.calls.count - before)
    }

    var remarks: [String] {
        [
            "Synchronous posts are made on the main thread, which is pinned to a CPU. The centers also have an observer of "
                + "another name. Each observer is a closure that captures one object. All calls are counted.",
            "‡ Foundation's message for the main actor. Its other kind is not delivered before the post returns.",
        ]
    }

    var charts: [Chart] { [chart] }

    /// One table for each number of observers.
    var tables: [Table] {
        Self.observerCounts.map { observers in
            var table = Table(
                title: "Synchronous post, observers: \(observers) (ns a post)",
                columns: [
                    .ranged("ns", "time", .nanoseconds), .ranged("÷ Foundation", "ratio", .ratio),
                    .init("mallocs", "allocations", .perMessage),
                ])
            table.rows = PostSubject.allCases.map { subject in
                let key = Key(subject: subject, observers: observers)
                var row = Table.Row(name: subject.rawValue)
                row.add(times.spread(key), as: "time")
                row.add(ratio(subject, observers: observers), as: "ratio")
                row.figures["allocations"] = allocations.spread(key)?.median
                return row
            }
            return table
        }
    }

    /// A bar chart of calls a second.
    private var chart: Chart {
        let counts = Self.observerCounts.filter { $0 > 0 }
        let groups = PostSubject.allCases.map { subject in
            Chart.BarGroup(
                name: subject.rawValue, role: subject.role,
                bars: counts.compactMap { observers in
                    let name = observers == 1 ? "1 observer" : "\(observers) observers"
                    return times.spread(Key(subject: subject, observers: observers)) { time in
                        Double(observers) * 1e9 / time
                    }.map { Chart.Bar(name: name, value: $0) }
                })
        }
        return .rates("Synchronous posts", of: "observers that posts call", groups: groups)
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-N1", "synchronous post, one observer ÷ Foundation's", .atMost(0.2), stretch: .atMost(0.1),
                figure: ratio(.name, observers: 1)),
            TargetRow(
                "B-N2", "synchronous post, 100 observers ÷ Foundation's", .atMost(0.1),
                stretch: .atMost(0.03), figure: ratio(.name, observers: 100)),
            TargetRow(
                "B-N5", "synchronous post of FoundationRunLoops, one observer ÷ Foundation's", .below(0.3),
                figure: ratio(.face, observers: 1)),
        ]
    }

    var comparisons: [Comparison] {
        [
            Comparison(
                "Post a notification to one observer", PostSubject.foundationName.rawValue,
                times.ratio(
                    Key(subject: .foundationName, observers: 1), to: Key(subject: .name, observers: 1)))
        ].compactMap { $0 }
    }

    private func ratio(_ subject: PostSubject, observers: Int) -> Spread? {
        times.ratio(
            Key(subject: subject, observers: observers),
            to: Key(subject: subject.yardstick, observers: observers))
    }
}

/// A way to call observers synchronously, on the posting thread.
protocol Poster: AnyObject, Sendable {
    /// Posts many times in one call, so that the call through the protocol costs nothing.
    ///
    /// Only one thread at a time calls this.
    func post(_ count: Int)
}

/// The ways of posting that are compared.
enum PostSubject: String, CaseIterable {
    case name = "RunLoops post"
    case message = "RunLoops typed message"
    case face = "FoundationRunLoops post"
    case foundationName = "Foundation post"
    case foundationMessage = "Foundation typed message (‡)"

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .name, .message, .face: .ours
        case .foundationName, .foundationMessage: .peer
        }
    }

    /// The subject that this one is compared with.
    var yardstick: PostSubject {
        switch self {
        case .name, .face, .foundationName: .foundationName
        case .message, .foundationMessage: .foundationMessage
        }
    }
}

extension PostSubject {
    /// Makes a center with observers that count their calls, and a poster for this center.
    func make(observers: Int, calls: CallCounter) -> any Poster {
        switch self {
        case .name: NamePoster(name: "posted", observers: observers, calls: calls)
        case .message: MessagePoster(observers: observers, calls: calls)
        case .face: FacePoster(name: "posted", observers: observers, calls: calls)
        case .foundationName: FoundationNamePoster(name: "posted", observers: observers, calls: calls)
        case .foundationMessage: FoundationMessagePoster(observers: observers, calls: calls)
        }
    }
}

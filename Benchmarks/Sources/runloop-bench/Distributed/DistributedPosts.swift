internal import CThreadControl
internal import Histogram

/// Measures notifications between processes: the delay of one post and the rate of many, with one observer and with eight.
///
/// Read the ratios to the relay in C first, which only copies packets.
struct DistributedPosts: Measurement {
    private enum Subject: String, CaseIterable {
        case relay = "a relay in C"
        case hub = "DistributedNotificationCenter"
    }

    private struct Key: Hashable {
        let subject: Subject
        let observers: Int
    }

    private static let observerCounts = [1, 8]

    private var channels: [(key: Key, channel: any PostChannel)] = []
    /// The time from a post to its delivery, in nanoseconds: the p50 and the p99 of each round.
    private var medians = RoundFigures<Subject>()
    private var tails = RoundFigures<Subject>()
    /// The time per post in a series of posts, in nanoseconds.
    private var times = RoundFigures<Key>()
    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if channels.isEmpty { try open(session.machine) }
        for (key, channel) in channels.turns(of: round) {
            stage = "\(key.subject.rawValue), observers: \(key.observers)"
            ThreadNumber.current.pin(to: [session.machine.processors[0]])
            if key.observers == 1 { try measureTrips(key.subject, channel, round, session) }
            let posts = (session.isQuick ? 2_000 : 10_000) / key.observers
            let start = bench_now()
            try channel.post(posts)
            let time = Double(bench_now() - start) / Double(posts)
            if round >= 0 { times.add(time, of: key) }
        }
    }

    /// Opens all channels, whose threads inherit their processors from this thread.
    ///
    /// The hub and the relay have one processor, and all other threads share the other.
    private mutating func open(_ machine: Machine) throws {
        let place = PostPlace(
            hub: machine.processors[min(1, machine.processors.count - 1)], others: machine.processors[0])
        for observers in Self.observerCounts {
            channels.append((Key(subject: .relay, observers: observers), try RelayChannel(observers, place)))
            channels.append((Key(subject: .hub, observers: observers), try HubChannel(observers, place)))
        }
    }

    private mutating func measureTrips(
        _ subject: Subject, _ channel: any PostChannel, _ round: Int, _ session: Session
    ) throws {
        var histogram = TimeHistogram()
        for _ in 0..<(session.isQuick ? 200 : 500) {
            // Waits until the acknowledgements of the previous post are handled.
            bench_sleep(200_000)
            try channel.post(1)
            histogram.record(UInt64(max(channel.lastDelay, 1)))
        }
        if round < 0 { return }
        medians.add(Double(histogram.valueAtPercentile(50)), of: subject)
        tails.add(Double(histogram.valueAtPercentile(99)), of: subject)
    }

    mutating func end(in session: Session) throws {
        for (_, channel) in channels { try channel.end() }
        channels = []
    }

    var remarks: [String] {
        [
            "Notifications with 64 bytes over sockets between the threads of this process, as they go between processes. The hub "
                + "and the relay have a processor, the poster and the observers share the other one.",
            "One way is the time until the observer is called, for a post that is alone. The rate includes the delivery of the "
                + "last post to every observer. The order and the number of all deliveries are checked.",
        ]
    }

    var tables: [Table] {
        var trips = Table(
            title: "Notifications between processes, one way (µs)",
            columns: [
                .ranged("p50", "p50", .microseconds), .init("p99", "p99", .microseconds),
                .ranged("÷ relay", "ratio", .ratio),
            ])
        trips.rows = Subject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(medians.spread(subject), as: "p50")
            row.figures["p99"] = tails.spread(subject)?.median
            row.add(medians.ratio(subject, to: .relay), as: "ratio")
            return row
        }
        return [trips] + Self.observerCounts.map(rates)
    }

    private func rates(_ observers: Int) -> Table {
        var table = Table(
            title: "Notifications between processes, observers: \(observers) (millions a second)",
            columns: [.ranged("posts", "rate", .millions), .ranged("÷ relay", "ratio", .ratio)])
        table.rows = Subject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(times.spread(Key(subject: subject, observers: observers)) { 1e9 / $0 }, as: "rate")
            row.add(rate(subject, observers), as: "ratio")
            return row
        }
        return table
    }

    /// The rate of a subject divided by the rate of the relay.
    private func rate(_ subject: Subject, _ observers: Int) -> Spread? {
        times.ratio(
            Key(subject: .relay, observers: observers), to: Key(subject: subject, observers: observers))
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-X1", "notification through the hub, one way, p50 ÷ a relay in C", .atMost(1.3),
                stretch: .atMost(1.1), figure: medians.ratio(.hub, to: .relay),
                note: machine.twoProcessorsNote)
        ]
            + Self.observerCounts.map { observers in
                TargetRow(
                    "B-X2", "posts a second through the hub, observers: \(observers) ÷ a relay in C",
                    .atLeast(0.7), stretch: .atLeast(1), figure: rate(.hub, observers),
                    note: machine.twoProcessorsNote)
            }
    }
}

/// Measures messages of 64 bytes between two processes: there and back, and in a stream one way.
///
/// Read "÷ bare" of the round trip on two CPUs first.
struct Packets: Measurement {
    private let timer = RoundTripTimer()
    private let subjects: [(subject: PacketSubject, pair: any PacketPair)]
    private var trips = TripFigures<PacketSubject>()
    /// The one-way time of a message, in nanoseconds.
    private var streams = RoundFigures<TripFigures<PacketSubject>.Key>()
    private(set) var stage = ""

    /// Starts all processes.
    init() throws {
        let timer = timer
        subjects = try PacketSubject.allCases.map { (subject: $0, pair: try $0.make(timer: timer)) }
    }

    mutating func measure(round: Int, in session: Session) throws {
        for placement in Placement.possible(on: session.machine) {
            for (subject, pair) in subjects.turns(of: round) {
                stage = "between processes, \(placement.rawValue), \(subject.rawValue)"
                pair.place(placement, on: session.machine)
                ThreadNumber.current.pin(to: placement.nearProcessors(on: session.machine))
                let length = session.length(.milliseconds(30), quick: .milliseconds(12))
                let found = try timer.time(pair, length: length)
                let stream = try time(of: session.isQuick ? 2_000 : 10_000, through: pair)
                // The first round is the warm-up.
                if round < 0 { continue }
                let key = TripFigures.Key(placement: placement, subject: subject)
                trips.add(found, of: key)
                streams.add(stream, of: key)
            }
        }
    }

    /// Returns the average nanoseconds of a message in a stream of `count` messages.
    private func time(of count: Int, through pair: any PacketPair) throws -> Double {
        // The peer counts the messages since its last answer. All previous round trips ended with an answer.
        let start = ContinuousClock.now
        let received = try pair.stream(count)
        let time = ContinuousClock.now - start
        if received != count + 1 {
            throw RoundTripTimer.Failure(
                description: "\(count) messages were sent, \(received - 1) have arrived")
        }
        return Double(time.nanoseconds) / Double(count + 1)
    }

    var remarks: [String] {
        [
            "Between processes: 64 bytes each way, and a header of 24 bytes with ours. There and back in µs, the medians of "
                + "the p50 and the p99 of the rounds. One way in ns a message, in a stream that fills the connection.",
            "Bare is blocking send and recv in C. With an epoll, both ends wait in a way that allows them to wait for other "
                + "descriptors, too. Ours waits in the loop at one end, and in poll at the other.",
        ]
    }

    var tables: [Table] {
        trips.tables(
            "Between processes", unit: "",
            columns: [
                .ranged("÷ bare", "ratio", .ratio), .init("÷ epoll", "watchedRatio", .ratio),
                .init("one way ns", "stream", .nanoseconds), .init("÷ bare", "streamRatio", .ratio),
            ]
        ) { row, key in
            row.add(trips.ratio(key.placement, key.subject, to: .bare), as: "ratio")
            row.add(trips.ratio(key.placement, key.subject, to: .watched), as: "watchedRatio")
            row.add(streams.spread(key), as: "stream")
            row.add(
                streams.ratio(key, to: .init(placement: key.placement, subject: .bare)), as: "streamRatio")
        }
    }

    var charts: [Chart] { [trips.chart("Round trips between processes")] }

    func targets(on machine: Machine) -> [TargetRow] {
        let note = machine.twoProcessorsNote
        return [
            TargetRow(
                "B-P2", "round trip between processes, two CPUs, p50 ÷ bare pair in C", .atMost(1.3),
                figure: trips.ratio(.twoProcessors, .ports, to: .bare), note: note),
            TargetRow(
                "B-P2", "round trip between processes, one CPU, p50 ÷ bare pair in C", .atMost(1.3),
                figure: trips.ratio(.oneProcessor, .ports, to: .bare)),
        ]
    }
}

/// Two processes that exchange packets by one mechanism.
protocol PacketPair: PingPong {
    /// Sends messages of 64 bytes, and then a question, which the peer answers with the number of received messages.
    ///
    /// - Parameter count: The number of messages before the question.
    /// - Returns: The number of received messages, including the question.
    /// - Throws: An error if the other process cannot be reached.
    func stream(_ count: Int) throws -> Int
}

/// The mechanisms that are compared.
enum PacketSubject: String, TripSubject {
    case bare = "bare SEQPACKET pair (C)"
    case watched = "bare pair (C), an epoll at each end"
    case ports = "RemotePort and MessagePort"

    /// The relation to this package.
    var role: Chart.Role { self == .ports ? .ours : .yardstick }

    /// Starts the other process.
    func make(timer: RoundTripTimer) throws -> any PacketPair {
        switch self {
        case .bare: try BarePacketPair(watches: false, timer: timer)
        case .watched: try BarePacketPair(watches: true, timer: timer)
        case .ports: try PortPacketPair(timer: timer)
        }
    }
}

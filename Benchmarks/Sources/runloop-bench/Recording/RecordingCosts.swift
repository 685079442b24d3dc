internal import CThreadControl
internal import RunLoops
internal import Synchronization

/// Measures a flight recorder: the same messages without a recorder, with one, and with one that records everything.
///
/// Read the two ratios with one sender first, which compare figures of the same round.
struct RecordingCosts: Measurement {
    /// The ways in which messages reach their loop.
    private enum Stream: String, CaseIterable {
        case port = "port, from another thread"
        case perform = "perform, from another thread"
        case own = "perform, on the loop's own thread"
        case hop = "hop between two loops that sleep"
    }

    private enum Setting: String, CaseIterable {
        case off = "no recorder"
        case sampled = "recorder"
        case everything = "recorder of everything"
    }

    private struct Key: Hashable {
        let stream: Stream
        let setting: Setting
    }

    private let runner = ThroughputRunner(window: 4096)
    private let channels: [Stream: any MessageChannel]
    private let alone: RunLoopThread
    private let aloneNumber: ThreadNumber
    private let timer = RoundTripTimer()
    private let pingPong: RunLoopPingPong
    private var times = RoundFigures<Key>()
    private(set) var stage = ""

    init() throws {
        channels = [
            .port: try PortChannel(Port(queueLimit: .unlimited), sink: runner.sink),
            .perform: try PerformChannel(sink: runner.sink),
        ]
        alone = try RunLoopThread(name: "alone")
        aloneNumber = try alone.prepare()
        pingPong = try RunLoopPingPong(policy: .park, usesPorts: false, timer: timer)
    }

    mutating func measure(round: Int, in session: Session) throws {
        for setting in Setting.allCases.turns(of: round) {
            let recorder: FlightRecorder? =
                switch setting {
                case .off: nil
                case .sampled: try FlightRecorder()
                case .everything: try FlightRecorder(detail: .everything)
                }
            defer { recorder?.stop() }
            for stream in Stream.allCases {
                stage = "\(stream.rawValue), \(setting.rawValue)"
                // Warms up: every thread makes its ring, and every place in the source gets its number.
                _ = try nanoseconds(stream, .milliseconds(2), on: session.machine)
                let length = session.length(.milliseconds(20), quick: .milliseconds(8))
                let time = try nanoseconds(stream, length, on: session.machine)
                if round >= 0 { times.add(time, of: Key(stream: stream, setting: setting)) }
            }
        }
    }

    /// The time of a message, in nanoseconds.
    private func nanoseconds(_ stream: Stream, _ length: Duration, on machine: Machine) throws -> Double {
        switch stream {
        case .port, .perform:
            guard let channel = channels[stream] else { preconditionFailure("the stream has a channel") }
            runner.place(channel, on: machine)
            return 1e9 / (try runner.round(channel, producers: 1, length: length)).rate
        case .own:
            aloneNumber.pin(to: [machine.processors[0]])
            return try alone.runLoop.performAndWait { Self.performToSelf(length) }
        case .hop:
            (pingPong.nearThreads + pingPong.farThreads).forEach { $0.pin(to: [machine.processors[0]]) }
            timer.prepare(length: length, gap: .zero)
            pingPong.start()
            if let failure = timer.wait() { throw RecordingFailure(reason: failure) }
            return Double(timer.samples.reduce(0, +)) / Double(max(1, timer.samples.count))
        }
    }

    private static func performToSelf(_ length: Duration) -> Double {
        let loop = RunLoop.current
        let payload = Payload(value: 1, sink: Sink())
        let chunk = 100
        var count = 0
        let start = bench_now()
        let end = start + length.nanoseconds
        var now = start
        while now < end {
            for _ in 0..<chunk { loop.perform { payload.deliver() } }
            count += chunk
            while payload.received < count { loop.run(in: .default, until: .distantPast) }
            now = bench_now()
        }
        return Double(now - start) / Double(count)
    }

    private func ratio(_ stream: Stream, _ setting: Setting) -> Spread? {
        times.ratio(Key(stream: stream, setting: setting), to: Key(stream: stream, setting: .off))
    }

    var tables: [Table] {
        [
            Table(
                title: "A message with a flight recorder (nanoseconds)",
                columns: [.ranged("time", "time", .nanoseconds), .ranged("÷ none", "ratio", .ratio)],
                rows: Stream.allCases.flatMap { stream in
                    Setting.allCases.map { setting in
                        var row = Table.Row(name: "\(stream.rawValue), \(setting.rawValue)")
                        row.add(times.spread(Key(stream: stream, setting: setting)), as: "time")
                        row.add(ratio(stream, setting), as: "ratio")
                        return row
                    }
                })
        ]
    }

    var remarks: [String] {
        ["A recorder: every row is compared with the same messages without one, in the same round."]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        let extra = { (stream: Stream) -> Spread? in
            let off = times.rounds(Key(stream: stream, setting: .off))
            let everything = times.rounds(Key(stream: stream, setting: .everything))
            return Spread(zip(everything, off).map { $0 - $1 })
        }
        return [
            TargetRow(
                "B-O2", "message from another thread, recorder ÷ none", .atMost(1.02),
                figure: ratio(.port, .sampled)),
            TargetRow(
                "B-O2", "message of the own thread, recorder ÷ none", .atMost(1.08),
                figure: ratio(.own, .sampled)),
            TargetRow(
                "B-O3", "message of the own thread, recorder of everything, extra ns", .atMost(35),
                figure: extra(.own)),
        ]
    }
}

/// The reason that a measurement of a recorder failed.
struct RecordingFailure: Error {
    let reason: String
}

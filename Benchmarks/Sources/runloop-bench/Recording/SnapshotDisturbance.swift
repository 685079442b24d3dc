internal import CThreadControl
internal import Glibc
internal import RunLoops
internal import Synchronization

/// Measures a hop between two loops while another thread copies their events, or as many bytes of its own.
///
/// Read the ratio of the 99th percentiles.
struct SnapshotDisturbance: Measurement {
    private enum Subject: String, CaseIterable {
        case copying = "another thread copies memory"
        case snapshots = "another thread takes snapshots"
    }

    /// The time between two snapshots, in microseconds.
    private static let pause: UInt32 = 10_000

    private let timer = RoundTripTimer()
    private let pingPong: RunLoopPingPong
    private let other = WorkerThread()
    private var times = RoundFigures<Subject>()
    private var snapshotCount = 0
    private(set) var stage = ""

    init() throws { pingPong = try RunLoopPingPong(policy: .park, usesPorts: true, timer: timer) }

    mutating func measure(round: Int, in session: Session) throws {
        let recorder = try FlightRecorder(detail: .everything)
        defer { recorder.stop() }
        let machine = session.machine
        (pingPong.nearThreads + pingPong.farThreads).forEach { $0.pin(to: [machine.processors[0]]) }
        other.number.pin(
            to: machine.processors.count > 1 ? Array(machine.processors.dropFirst()) : machine.processors)
        for subject in Subject.allCases.turns(of: round) {
            stage = subject.rawValue
            let isOver = OverFlag()
            other.run {
                let memory = [UInt8](repeating: 1, count: 4 << 20)
                while !isOver.value.load(ordering: .relaxed) {
                    switch subject {
                    case .copying: isOver.sum.wrappingAdd(Self.copy(memory), ordering: .relaxed)
                    case .snapshots:
                        isOver.sum.wrappingAdd(recorder.snapshot().threads.count, ordering: .relaxed)
                    }
                    isOver.count.wrappingAdd(1, ordering: .relaxed)
                    // A fifth of the hops coincide with a snapshot, which is more than enough for the 99th percentile.
                    usleep(Self.pause)
                }
            }
            timer.prepare(length: session.length(.milliseconds(60), quick: .milliseconds(20)), gap: .zero)
            pingPong.start()
            let failure = timer.wait()
            isOver.value.store(true, ordering: .relaxed)
            other.wait()
            if let failure { throw RecordingFailure(reason: failure) }
            if subject == .snapshots && round >= 0 { snapshotCount += isOver.count.load(ordering: .relaxed) }
            let sorted = timer.samples.sorted()
            if round >= 0 { times.add(Double(sorted[sorted.count * 99 / 100]), of: subject) }
        }
    }

    private final class OverFlag: Sendable {
        let value = Atomic(false)
        let sum = Atomic(0)
        let count = Atomic(0)
    }

    private static func copy(_ memory: [UInt8]) -> Int {
        var copy = memory
        copy[0] = 2
        return Int(copy[copy.count - 1])
    }

    var tables: [Table] {
        [
            Table(
                title: "A hop while a recording is read, 99th percentile (microseconds)",
                columns: [.ranged("p99", "p99", .microseconds)],
                rows: Subject.allCases.map { subject in
                    var row = Table.Row(name: subject.rawValue)
                    row.add(times.spread(subject), as: "p99")
                    return row
                })
        ]
    }

    var remarks: [String] { ["\(snapshotCount) snapshots were taken."] }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-O4", "p99 of a hop while snapshots are taken ÷ while memory is copied", .atMost(1.05),
                figure: times.ratio(.snapshots, to: .copying))
        ]
    }
}

internal import CAllocationCounter
internal import CThreadControl
internal import Synchronization

/// Measures the resources of an idle loop, and the cost of making and ending a loop, on running threads.
///
/// Read the descriptors first, which are a count. A loop has an epoll, an eventfd and a timerfd, and libevent has a pipe. Then read
/// the bytes, which are the same for every loop.
struct LoopFootprint: Measurement {
    /// The ends of the pipe for signals that libevent opens with every base, although this package gives libevent no signals.
    private static let pipeEnds = 2.0
    /// The number of threads in a round.
    private static let count = 32

    private enum Figure: CaseIterable {
        case bytes, descriptors, making, ending, both
    }

    private struct Key: Hashable {
        let subject: FootprintSubject
        let figure: Figure
    }

    private var figures = RoundFigures<Key>()
    /// The number of descriptors that loops of this package have left open, which must be zero.
    private var leftOpen: Int?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        var ending: [FootprintSubject: Double] = [:]
        for subject in FootprintSubject.allCases.turns(of: round) {
            stage = subject.rawValue
            let found = try Self.round(subject, on: session.machine)
            // The first round is the warm-up: objects that all loops share are made with the first loop.
            if round < 0 { continue }
            ending[subject] = found[.ending]
            for (figure, value) in found { figures.add(value, of: Key(subject: subject, figure: figure)) }
        }
        for subject in FootprintSubject.allCases where round >= 0 {
            guard let end = ending[subject], let threadEnd = ending[.none],
                let making = figures.latest(Key(subject: subject, figure: .making))
            else { continue }
            figures.add(making + end - threadEnd, of: Key(subject: subject, figure: .both))
        }
    }

    /// Makes and ends loops of this package only, several times.
    ///
    /// Other loops can close their descriptors after their threads have ended.
    mutating func end(in session: Session) throws {
        stage = "the end"
        let before = DescriptorLimit.open
        for _ in 0..<4 { _ = try Self.round(.own, on: session.machine) }
        leftOpen = DescriptorLimit.open - before
    }

    /// Makes loops on running threads, and ends the threads.
    private static func round(_ subject: FootprintSubject, on machine: Machine) throws -> [Figure: Double] {
        let threads = (0..<count).map { _ in WorkerThread() }
        let times = Mutex<[Double]>([])
        times.withLock { $0.reserveCapacity(count) }
        for thread in threads {
            thread.number.pin(to: [machine.processors[0]])
            // Makes the allocations that every thread makes only once.
            thread.runAndWait { _ = [Int](repeating: 0, count: 100).count }
        }
        let bytesBefore = bench_allocated_bytes()
        let openBefore = DescriptorLimit.open
        for thread in threads {
            thread.runAndWait {
                let start = bench_now()
                subject.makeLoop()
                let end = bench_now()
                times.withLock { $0.append(Double(end - start)) }
            }
        }
        let bytes = Int(bench_allocated_bytes()) - Int(bytesBefore)
        let descriptors = DescriptorLimit.open - openBefore
        var ends: [Double] = []
        for thread in threads {
            let start = bench_now()
            thread.end()
            ends.append(Double(bench_now() - start))
        }
        return [
            .bytes: Double(bytes) / Double(count), .descriptors: Double(descriptors) / Double(count),
            .making: Spread(times.withLock { $0 })?.median ?? 0, .ending: Spread(ends)?.median ?? 0,
        ]
    }

    var remarks: [String] {
        [
            "\(Self.count) running threads make their loops, one after the other. Each loop serves one input in one pass. "
                + "Bytes are those that malloc handed out to any thread, without the memory of the kernel and of stacks.",
            "Ending is the time until the thread has been joined. Make and end subtracts that time of a thread without a "
                + "loop.",
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "One loop",
            columns: [
                .init("bytes", "bytes", .whole), .init("descriptors", "descriptors", .ratio),
                .init("make, µs", "making", .microseconds),
                .init("thread's end, µs", "ending", .microseconds),
                .ranged("make and end, µs", "both", .microseconds),
            ])
        table.rows = FootprintSubject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(figures.spread(Key(subject: subject, figure: .bytes)), as: "bytes")
            row.add(figures.spread(Key(subject: subject, figure: .descriptors)), as: "descriptors")
            row.add(figures.spread(Key(subject: subject, figure: .making)), as: "making")
            row.add(figures.spread(Key(subject: subject, figure: .ending)), as: "ending")
            row.add(figures.spread(Key(subject: subject, figure: .both)), as: "both")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S1", "memory of an idle loop, KiB from malloc", .atMost(16), stretch: .atMost(8),
                figure: figures.spread(Key(subject: .own, figure: .bytes)) { $0 / 1024 }),
            TargetRow(
                "B-S1", "descriptors of an idle loop", .atMost(4), stretch: .atMost(3),
                figure: figures.spread(Key(subject: .own, figure: .descriptors)),
                note: "two are the ends of a pipe that libevent opens with every base"),
            TargetRow(
                "B-S1", "descriptors of an idle loop beside libevent's pipe", .atMost(3),
                figure: figures.spread(Key(subject: .own, figure: .descriptors)) { $0 - Self.pipeEnds },
                isCount: true),
            TargetRow(
                "B-S1", "descriptors left open by loops that have ended", .atMost(0),
                figure: leftOpen.flatMap { Spread([Double($0)]) }, isCount: true),
            TargetRow(
                "B-S2", "making and ending a loop on a running thread, µs", .atMost(50), stretch: .atMost(20),
                figure: figures.spread(Key(subject: .own, figure: .both)) { $0 / 1000 }),
        ]
    }
}

/// The loops that are made on threads without a loop.
enum FootprintSubject: String, CaseIterable {
    case none = "a thread without a loop"
    case own = "RunLoops"
    case foundation = "Foundation"

    /// Makes the loop of the calling thread, and runs one pass.
    func makeLoop() {
        switch self {
        case .none: break
        case .own: RunLoopCreation.make()
        case .foundation: FoundationLoop.make()
        }
    }
}

/// Measures the memory of a connection that has exchanged a message and is idle.
///
/// Read the bytes. The kernel's own memory for each socket is not counted.
struct ConnectionFootprint: Measurement {
    private static let count = 1_000

    private var servers: [PingPeer: any PingServer] = [:]
    private let load: PingLoad
    private var bytes = RoundFigures<PingPeer>()

    private(set) var stage = ""

    init() throws {
        load = try PingLoad(capacity: Self.count)
    }

    mutating func measure(round: Int, in session: Session) throws {
        // The memory of a connection is the same in each round.
        if round > 2 { return }
        for peer in PingPeer.allCases {
            stage = "\(peer.title), the memory of a connection"
            let server = try servers[peer] ?? peer.start()
            servers[peer] = server
            let before = bench_allocated_bytes()
            try load.connect(to: server, Self.count)
            try load.run(Self.count, depth: 1, requests: Self.count)
            let after = bench_allocated_bytes()
            try load.disconnect()
            // A server frees the memory of a connection after it has closed the socket, and before it accepts the next connection.
            try load.connect(to: server, 1)
            try load.disconnect()
            // The first round is the warm-up: buffers that all connections share are made with the first connection.
            if round >= 0 { bytes.add((Double(after) - Double(before)) / Double(Self.count), of: peer) }
        }
    }

    mutating func end(in session: Session) throws {
        for server in servers.values { try server.stop() }
        servers = [:]
        load.end()
    }

    var remarks: [String] {
        [
            "\(NumberFormat.grouped(Self.count)) TCP connections to a server have exchanged a PING each. Bytes are those that "
                + "malloc handed out, without the memory of the kernel."
        ]
    }

    var tables: [Table] {
        var table = Table(title: "One idle connection", columns: [.init("bytes", "bytes", .whole)])
        table.rows = PingPeer.allCases.map { peer in
            var row = Table.Row(name: peer.title)
            row.add(bytes.spread(peer), as: "bytes")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-IO3", "memory of an idle connection, KiB from malloc", .atMost(1),
                figure: bytes.spread(.streams) { $0 / 1024 })
        ]
    }
}

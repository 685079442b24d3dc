internal import CThreadControl
internal import Dispatch
internal import RunLoops
internal import Synchronization

/// Measures passing a token from loop to loop, each on its own thread, which sleeps until the token arrives.
///
/// Read the ratio of 1,000 loops to 2 first. Part of the ratio is the cost of the machine: the memory of a thread that has slept
/// for a long time is not in the cache.
struct TokenRing: Measurement {
    private var ring: LoopRing?
    /// The time of a hop, in nanoseconds.
    private var times = SizeFigures([2, 10, 100, 1_000], "loops")
    private var note: String?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { ring = makeRing(on: session.machine) }
        guard let ring else { return }
        for size in times.sizes where size <= ring.count {
            stage = "\(size) loops"
            let length = session.length(.milliseconds(40), quick: .milliseconds(20))
            let time = try ring.time(size: size, length: length)
            if round >= 0 { times.add(time, of: size) }
        }
    }

    /// Makes as many loops as the limit on descriptors allows.
    private mutating func makeRing(on machine: Machine) -> LoopRing? {
        for size in times.sizes.reversed() {
            if !DescriptorLimit.allows(5 * size) {
                note = DescriptorLimit.note
                continue
            }
            do { return try LoopRing(size, on: machine) } catch { note = "\(size) loops: \(error)" }
        }
        return nil
    }

    /// Ends the loops.
    mutating func end(in session: Session) throws {
        ring?.end()
        ring = nil
    }

    var remarks: [String] {
        [
            "Each hop is a message to the port of the next parked loop; every other loop is on the other CPU. The token counts "
                + "its hops and the loops count the messages that they serve, and both must agree."
        ]
    }

    var tables: [Table] {
        [times.table("A token that goes round loops", "µs", .microseconds, ratio: "÷ 2 loops")]
    }

    var charts: [Chart] {
        [
            times.chart(
                "A token that goes round loops", level: "a hop costs the same however many loops there are",
                "RunLoops, park")
        ]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-S4", "1,000 loops passing a token round, a hop ÷ 2 loops", .atMost(2),
                stretch: .atMost(1.2), figure: times.ratio(of: 1_000), note: note)
        ]
    }
}

/// A ring of loops, on threads with small stacks, each of which passes a token to the next loop.
final class LoopRing: Sendable {
    private struct Token {
        /// The number of loops that the token goes round.
        let size: Int
        /// The time at which the token stops, in nanoseconds on the monotonic clock.
        let end: Int64
        var hops = 0
    }

    private let threads: [RunLoopThread]
    private let ports: [Port<Token>]
    /// The number of messages that all loops have served, and the number of hops that the token has counted at its end.
    private let served = Atomic<Int>(0)
    private let arrived = Atomic<Int>(0)
    private let isOver = DispatchSemaphore(value: 0)

    private static let stackSize = 128 * 1024

    /// The number of loops.
    var count: Int { threads.count }

    /// Starts the loops, every other loop on the second processor.
    init(_ count: Int, on machine: Machine) throws {
        threads = try (0..<count).map { index in
            let processor = machine.processors[index % min(2, machine.processors.count)]
            return try RunLoopThread(
                name: "ring \(index)", stackSize: Self.stackSize, processors: [Int(processor)])
        }
        ports = (0..<count).map { _ in Port<Token>() }
        for (index, thread) in threads.enumerated() {
            _ = try thread.prepare(.park) { [self] in
                RunLoop.current.add(ports[index], forMode: .default) { [unowned self] token in
                    pass(token, from: index)
                }
            }
        }
    }

    private func pass(_ token: Token, from index: Int) {
        served.add(1, ordering: .relaxed)
        var token = token
        token.hops += 1
        if bench_now() >= token.end {
            arrived.store(token.hops, ordering: .relaxed)
            isOver.signal()
            return
        }
        let next = index + 1 == token.size ? 0 : index + 1
        // A refused token never arrives, which `time` detects.
        do { try ports[next].send(token) } catch { return }
    }

    /// Sends a token round the first `size` loops for `length`.
    ///
    /// - Returns: The nanoseconds of a hop.
    /// - Throws: ``Miscount`` if the token was lost or arrived twice.
    func time(size: Int, length: Duration) throws -> Double {
        let before = served.load(ordering: .relaxed)
        let start = bench_now()
        try ports[0].send(Token(size: size, end: start + length.nanoseconds))
        try isOver.waitForEnd()
        let time = bench_now() - start
        let hops = arrived.load(ordering: .relaxed)
        try Miscount.check(expected: hops, found: served.load(ordering: .relaxed) - before)
        return Double(time) / Double(hops)
    }

    /// Ends all loops.
    func end() {
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }
}

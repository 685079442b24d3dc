internal import CThreadControl
internal import Glibc
internal import RunLoops
internal import Streams

/// Measures a nested wait in a mode that is used for this wait only.
///
/// Read the ratio of the 10,000th wait to the 10th first: a mode that is no longer used should cost nothing.
struct PrivateModes: Measurement {
    /// The time of a wait, in nanoseconds.
    private var times = SizeFigures([10, 100, 1_000, 10_000], "modes before it")

    private(set) var stage = ""

    /// The number of waits before and after each size that contribute to the figure of the size.
    private static let margin = 9

    mutating func measure(round: Int, in session: Session) throws {
        stage = "private modes"
        // Each round uses a new loop, which has used none of the modes.
        let thread = try RunLoopThread(name: "private modes")
        defer {
            thread.stop()
            thread.join()
        }
        let processor = session.machine.processors[0]
        let waits = try thread.runLoop.performAndWait { [sizes = times.sizes] in
            ThreadNumber.current.pin(to: [processor])
            return try Self.waits(count: (sizes.last ?? 0) + Self.margin)
        }
        if round < 0 { return }
        for size in times.sizes {
            let near = waits[(size - Self.margin)..<(size + Self.margin)]
            times.add(Spread(Array(near))?.median ?? 0, of: size)
        }
    }

    /// Waits for a message `count` times, each time in another mode.
    ///
    /// - Returns: The nanoseconds of each wait.
    /// - Throws: ``Miscount`` if a message was lost.
    private static func waits(count: Int) throws -> [Double] {
        let modes = (0..<count).map { RunLoop.Mode("com.example.private-wait.\($0)") }
        var received = 0
        let port = Port<Int>()
        defer { port.invalidate() }
        func wait(in mode: RunLoop.Mode) throws {
            let loop = RunLoop.current
            loop.add(port, forMode: mode) { _ in received += 1 }
            try port.send(1)
            loop.run(mode: mode, before: .distantFuture)
            loop.remove(port, forMode: mode)
        }
        let warmUps = 1_000
        for _ in 0..<warmUps { try wait(in: RunLoop.Mode("com.example.private-wait")) }
        let times = try modes.map { mode in
            let start = bench_now()
            try wait(in: mode)
            return Double(bench_now() - start)
        }
        if received != count + warmUps { throw Miscount(expected: count + warmUps, found: received) }
        return times
    }

    var remarks: [String] {
        [
            "A wait adds a port to a mode of its own, runs the loop in it until a message has arrived, and removes the port. "
                + "Each figure is the median of \(2 * Self.margin) consecutive waits."
        ]
    }

    var tables: [Table] {
        [times.table("A wait in a private mode", "ns", .nanoseconds, ratio: "÷ 10")]
    }

    var charts: [Chart] {
        [times.chart("A wait in a private mode", level: "modes that are not used cost nothing", "RunLoops")]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-M1", "a private mode for each nested wait, the 10,000th ÷ the 10th", .atMost(1.2),
                stretch: .atMost(1), figure: times.ratio(of: 10_000))
        ]
    }
}

/// Measures a change to a private mode and back, in a loop that has many idle connections.
///
/// Read the ratio of 10,000 connections to 10 first: a change must not make a system call for each connection.
struct ConnectionModes: Measurement {
    private var loops: [IdleConnectionLoop] = []
    /// The time of a change there and back, in nanoseconds.
    private var times = SizeFigures([10, 10_000], "connections")
    private var note: String?

    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if round < 0 { try makeLoops() }
        for loop in loops.turns(of: round) {
            stage = "a change of mode with \(loop.size) connections"
            loop.number.pin(to: [session.machine.processors[0]])
            let time = try loop.time(length: session.length(.milliseconds(10), quick: .milliseconds(4)))
            if round >= 0 { times.add(time, of: loop.size) }
        }
    }

    /// Makes the loops, with fewer connections if the limit on descriptors is too low.
    private mutating func makeLoops() throws {
        let most = PingLoad.mostConnections
        if most < 10_000 {
            times = SizeFigures([10, most], "connections")
            note = "with \(most) connections; \(DescriptorLimit.note)"
        }
        for size in times.sizes {
            stage = "\(size) connections"
            loops.append(try IdleConnectionLoop(size))
        }
    }

    mutating func end(in session: Session) throws {
        for loop in loops { loop.end() }
        loops = []
    }

    var remarks: [String] {
        [
            "A loop with idle connections in its default mode waits for a message in a private mode, and then for one in the "
                + "default mode."
        ]
    }

    var tables: [Table] {
        [times.table("A change of mode and back with idle connections", "ns", .nanoseconds, ratio: "÷ 10")]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-IO2", "a change of mode and back with 10,000 connections ÷ 10", .atMost(2),
                stretch: .atMost(1.2),
                figure: times.sizes.last.flatMap { times.ratio(of: $0) }, note: note)
        ]
    }
}

/// A loop with many idle connections in its default mode.
private final class IdleConnectionLoop {
    let size: Int
    let number: ThreadNumber
    private let thread: RunLoopThread
    /// The other ends of the connections.
    private var peers: [CInt] = []
    private let waits = (private: Port<Int>(), usual: Port<Int>())

    private static let mode = RunLoop.Mode("com.example.private-wait")
    /// The number of changes between two reads of the clock.
    private static let chunk = 16

    /// Starts the loop.
    ///
    /// - Parameter size: The number of connections.
    /// - Throws: The error of the system.
    init(_ size: Int) throws {
        self.size = size
        thread = try RunLoopThread(name: "\(size) connections")
        number = try thread.prepare { [waits] in
            RunLoop.current.add(waits.private, forMode: Self.mode) { _ in }
            RunLoop.current.add(waits.usual, forMode: .default) { _ in }
        }
        for _ in 0..<size {
            var ends: [CInt] = [-1, -1]
            let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            if socketpair(AF_UNIX, type, 0, &ends) != 0 { throw SystemError(call: "socketpair", code: errno) }
            peers.append(ends[1])
            let end = ends[0]
            try thread.runLoop.performAndWait {
                StreamsPingServer.serve(try Connection(OwnedDescriptor(end)))
            }
        }
    }

    /// Changes the mode there and back for `length`.
    ///
    /// - Returns: The nanoseconds of a change there and back: the median of chunks, which hides interruptions of a few chunks.
    /// - Throws: ``Miscount`` if a message was lost.
    func time(length: Duration) throws -> Double {
        try thread.runLoop.performAndWait { [waits] in
            var chunks: [Double] = []
            let end = bench_now() + length.nanoseconds
            var now = bench_now()
            repeat {
                let start = now
                for _ in 0..<Self.chunk {
                    try waits.private.send(1)
                    try Self.wait(in: Self.mode)
                    try waits.usual.send(1)
                    try Self.wait(in: .default)
                }
                now = bench_now()
                chunks.append(Double(now - start) / Double(Self.chunk))
            } while now < end
            return Spread(chunks)?.median ?? 0
        }
    }

    private static func wait(in mode: RunLoop.Mode) throws(Miscount) {
        let result = RunLoop.current.run(in: mode, until: .now + .seconds(10), returnAfterSourceHandled: true)
        if result != .handledSource { throw Miscount(expected: 1, found: 0) }
    }

    /// Ends the loop and its connections.
    func end() {
        thread.stop()
        thread.join()
        for peer in peers { close(peer) }
    }
}

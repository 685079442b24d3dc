internal import CYardsticks
internal import Glibc
internal import RunLoops
internal import Synchronization

/// Sixty-four connections that are written to without pause, among thousands of descriptors that are not ready.
///
/// The sources are thrown away and made anew while bytes are on their way.
final class DescriptorSoak: SoakLoad {
    private static let connections = 64

    let name = "descriptors"
    let tally = SoakTally()
    private let thread: RunLoopThread
    private let senders = SoakSenders(2)
    private let idle: Int

    var remark: String {
        "\(Self.connections) connections among \(idle) idle descriptors; each byte in order"
    }

    init() throws {
        thread = try RunLoopThread(name: "soak descriptors")
        idle = min(10_000, max(0, (DescriptorRoom.raise() - DescriptorRoom.open) / 4))
    }

    /// One reading end, and the source that watches a copy of it; the loop's thread only.
    private final class Connection {
        private let end: CInt
        private let tally: SoakTally
        private var expected: UInt8 = 0
        private var random: SoakRandom
        private var bytes = [UInt8](repeating: 0, count: 4_096)

        init(_ end: CInt, _ tally: SoakTally, seed: UInt64) {
            self.end = end
            self.tally = tally
            random = SoakRandom(seed: seed)
            watch()
        }

        private func watch() {
            let source = DescriptorSource(
                dup(end), interest: .read, trigger: random.onceIn(2) ? .edge : .level, closesDescriptor: true
            ) { [unowned self] source, _ in read(source) }
            do { try RunLoop.current.add(source, forMode: .default) } catch {
                tally.fault("a descriptor cannot be watched: \(error)")
            }
        }

        private func read(_ source: DescriptorSource) {
            // Until nothing is left: half of the sources are told once only.
            while true {
                let count = Glibc.read(end, &bytes, bytes.count)
                if count <= 0 { break }
                for byte in bytes.prefix(count) {
                    if byte != expected { tally.misordered.add(1, ordering: .relaxed) }
                    expected = byte &+ 1
                }
                tally.received.add(count, ordering: .relaxed)
            }
            guard random.onceIn(500) else { return }
            source.invalidate()
            watch()
        }

        deinit { close(end) }
    }

    func start(seed: UInt64) throws {
        var writingEnds: [CInt] = []
        var readingEnds: [CInt] = []
        for _ in 0..<Self.connections {
            var ends: [CInt] = [0, 0]
            if pipe(&ends) != 0 { throw SystemError(call: "pipe2", code: errno) }
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            readingEnds.append(ends[0])
            writingEnds.append(ends[1])
        }
        try thread.runLoop.performAndWait { [tally, idle, readingEnds] in
            let loop = RunLoop.current
            for _ in 0..<idle {
                let source = DescriptorSource(
                    bench_event_open(false), interest: .read, closesDescriptor: true
                ) {
                    _, _ in tally.fault("a descriptor was reported that is not ready")
                }
                try loop.add(source, forMode: .default)
            }
            let connections = readingEnds.map { Connection($0, tally, seed: seed &+ UInt64($0)) }
            loop.addEndHandler { withExtendedLifetime(connections) {} }
        }
        senders.start(seed: seed) { [tally, writingEnds] sender in
            let own = writingEnds.indices.filter { $0 % 2 == sender }.map { writingEnds[$0] }
            var next = [UInt8](repeating: 0, count: own.count)
            return { random in
                let index = Int.random(in: 0..<own.count, using: &random)
                let length = Int.random(in: 1...512, using: &random)
                let bytes = (0..<length).map { next[index] &+ UInt8(truncatingIfNeeded: $0) }
                // A pipe that is full takes a part, or nothing.
                let count = max(0, write(own[index], bytes, length))
                next[index] &+= UInt8(truncatingIfNeeded: count)
                tally.sent.add(count, ordering: .relaxed)
            }
        }
        ends.withLock { $0 = writingEnds }
    }

    /// The writing ends, to be closed.
    private let ends = Mutex<[CInt]>([])

    func stop() {
        senders.stop()
        tally.settle()
        thread.stop()
        thread.join()
        for end in ends.withLock({ $0 }) { close(end) }
    }
}

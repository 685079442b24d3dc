internal import Glibc
internal import RunLoops
internal import Synchronization
internal import TestSupport

/// Continuous writes to sixty-four pipes, among thousands of descriptors that are never ready.
///
/// Sources are invalidated and replaced by new ones while bytes are in flight.
final class DescriptorLoad: Load {
    private static let connections = 64

    let name = "descriptors"
    let tally = Tally()
    private let thread: RunLoopThread
    private let senders = Senders(2)
    private let idle: Int

    var remark: String {
        "\(Self.connections) pipes among \(idle) idle descriptors; each byte in order"
    }

    init() throws {
        thread = try RunLoopThread(name: "soak descriptors")
        idle = min(10_000, max(0, (DescriptorLimit.raise() - DescriptorLimit.open) / 4))
    }

    /// A reading end, and the source that watches a duplicate of it, used on the loop's thread only.
    private final class Connection {
        private let end: CInt
        private let tally: Tally
        private var expected: UInt8 = 0
        private var random: SplitMix64
        private var bytes = [UInt8](repeating: 0, count: 4_096)

        init(_ end: CInt, _ tally: Tally, seed: UInt64) {
            self.end = end
            self.tally = tally
            random = SplitMix64(seed: seed)
            watch()
        }

        private func watch() {
            let source = DescriptorSource(
                OwnedDescriptor(dup(end)), interest: .read, trigger: random.onceIn(2) ? .edge : .level
            ) { [unowned self] source, _ in read(source) }
            do { try RunLoop.current.add(source, forMode: .default) } catch {
                tally.fault("a descriptor cannot be watched: \(error)")
            }
        }

        private func read(_ source: DescriptorSource) {
            // Reads until the pipe is empty: half of the sources are edge-triggered.
            while true {
                // Safe: the kernel fills at most the length of a local buffer.
                let count = unsafe Glibc.read(end, &bytes, bytes.count)
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
            let ends = try Self.makePipe()
            readingEnds.append(ends[0])
            writingEnds.append(ends[1])
        }
        // Nothing is written to this pipe, so that its reading end is never ready.
        let silent = try Self.makePipe()
        defer { close(silent[0]) }
        try thread.runLoop.performAndWait { [tally, idle, readingEnds] in
            let loop = RunLoop.current
            for _ in 0..<idle {
                let source = DescriptorSource(
                    OwnedDescriptor(dup(silent[0])), interest: .read
                ) {
                    _, _ in tally.fault("a descriptor that is not ready was reported")
                }
                try loop.add(source, forMode: .default)
            }
            let connections = readingEnds.map { Connection($0, tally, seed: seed &+ UInt64($0)) }
            loop.addEndHandler { withExtendedLifetime(connections) {} }
        }
        try senders.start(seed: seed) { [tally, writingEnds] sender in
            let own = writingEnds.indices.filter { $0 % 2 == sender }.map { writingEnds[$0] }
            var next = [UInt8](repeating: 0, count: own.count)
            return { random in
                let index = Int.random(in: 0..<own.count, using: &random)
                let length = Int.random(in: 1...512, using: &random)
                let bytes = (0..<length).map { next[index] &+ UInt8(truncatingIfNeeded: $0) }
                // Safe: the kernel reads `length` bytes of a local buffer. A full pipe accepts some of them, or none.
                let count = max(0, unsafe write(own[index], bytes, length))
                next[index] &+= UInt8(truncatingIfNeeded: count)
                tally.sent.add(count, ordering: .relaxed)
            }
        }
        ends.withLock { $0 = writingEnds + [silent[1]] }
    }

    /// Returns the reading and the writing end of a new pipe, both non-blocking.
    private static func makePipe() throws -> [CInt] {
        var ends: [CInt] = [0, 0]
        // Safe: the kernel fills two elements.
        if unsafe pipe(&ends) != 0 { throw SystemError(call: "pipe", code: errno) }
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        return ends
    }

    /// The writing ends, which are closed last.
    private let ends = Mutex<[CInt]>([])

    func stop() {
        senders.stop()
        tally.settle()
        thread.stop()
        thread.join()
        for end in ends.withLock({ $0 }) { close(end) }
    }
}

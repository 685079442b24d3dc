internal import Glibc
internal import RunLoops
internal import Synchronization

/// A thousand loops for the whole soak, each of which sleeps until a block arrives from time to time.
final class ManyLoopsLoad: Load {
    let name = "loops kept"
    let tally = Tally()
    private let threads: [RunLoopThread]
    private let senders = Senders(1)

    var remark: String { "\(threads.count) loops on threads of their own, each block wakes one" }

    init() throws {
        // A loop uses five descriptors.
        let room = (DescriptorLimit.raise() - DescriptorLimit.open) / 2
        threads = try (0..<min(1_000, room / 5)).map {
            try RunLoopThread(name: "soak crowd \($0)", stackSize: 128 * 1024)
        }
    }

    func start(seed: UInt64) throws {
        try senders.start(seed: seed) { [threads, tally] _ in
            let boxes = threads.map { _ in Box() }
            var numbers = threads.map { _ in 0 }
            return { random in
                let index = Int.random(in: 0..<threads.count, using: &random)
                let (number, box) = (numbers[index], boxes[index])
                numbers[index] += 1
                tally.sendOne()
                threads[index].runLoop.perform {
                    box.sequence.withLock { $0.receive(number, for: tally) }
                }
                while tally.missing < -1_000 { sched_yield() }
            }
        }
    }

    private final class Box: Sendable {
        let sequence = Mutex(SenderSequence())
    }

    func stop() {
        senders.stop()
        tally.settle()
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }
}

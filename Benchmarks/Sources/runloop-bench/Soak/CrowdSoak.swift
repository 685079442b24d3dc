internal import Glibc
internal import RunLoops
internal import Synchronization

/// A thousand loops that are there all the time, each of which sleeps until a block comes every now and then.
final class CrowdSoak: SoakLoad {
    let name = "loops kept"
    let tally = SoakTally()
    private let threads: [RunLoopThread]
    private let senders = SoakSenders(1)

    var remark: String { "\(threads.count) loops on threads of their own, each block wakes one" }

    init() throws {
        // A loop has five descriptors.
        let room = (DescriptorRoom.raise() - DescriptorRoom.open) / 2
        threads = try (0..<min(1_000, room / 5)).map {
            try RunLoopThread(name: "soak crowd \($0)", stackSize: 128 * 1024)
        }
    }

    func start(seed: UInt64) throws {
        senders.start(seed: seed) { [threads, tally] _ in
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
        let sequence = Mutex(SoakSequence())
    }

    func stop() {
        senders.stop()
        tally.settle()
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }
}

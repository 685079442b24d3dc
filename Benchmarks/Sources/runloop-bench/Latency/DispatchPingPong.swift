internal import Dispatch

/// Isolates waking a thread through an idle serial queue.
///
/// Between two queues Dispatch may run both blocks on one thread, and nothing would be woken. So the near
/// side is a thread that waits on a semaphore, and the answer is a signal: half of what is measured is
/// `async`, half a semaphore, which is the cheaper of the two. Read the ratio of our `perform` to it.
final class DispatchPingPong: PingPong {
    private let near = WorkerThread()
    private let queue = DispatchQueue(label: "far")
    private let answered = DispatchSemaphore(value: 0)
    private let farPlace = DispatchPlace()
    private let rally: Rally

    init(rally: Rally) { self.rally = rally }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { farPlace.numbers }

    func place(_ placement: Placement, on machine: Machine) {
        for _ in 0..<8 { queue.async { [farPlace] in farPlace.notice() } }
        queue.sync {}
        farPlace.allow(placement.farProcessors(on: machine))
        placement.pin(near: nearThreads, far: farThreads, on: machine)
    }

    func start() {
        near.run { [queue, answered, farPlace, rally] in
            rally.begin()
            repeat {
                queue.async {
                    farPlace.check()
                    answered.signal()
                }
                answered.wait()
            } while rally.returned()
        }
    }

    var remark: String? {
        "† Dispatch: a queue has no thread to pin. Every pool thread that was seen was pinned; "
            + "\(NumberFormat.percent.text(farPlace.strayShare)) of the blocks still ran on another processor. "
            + "Its near side is a thread that waits on a DispatchSemaphore: half async, half semaphore."
    }
}

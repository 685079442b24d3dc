internal import CThreadControl
internal import NIOCore
internal import Synchronization

/// Isolates SwiftNIO's `scheduleTask`, on the loop's own thread.
final class NIOTimerHolder: TimerHolder, @unchecked Sendable {
    // Safe because all that changes is touched by the loop's thread only.
    private let loop = NIOLoop()
    private let pending: Int
    private let fires = Calls()
    private var tasks: [Scheduled<Void>] = []
    private var start = NIODeadline.now()

    init(pending: Int) { self.pending = pending }

    var number: ThreadNumber { loop.number }

    func onThread(_ job: @escaping @Sendable () -> Void) {
        let bed = Bed()
        loop.loop.execute {
            job()
            bed.wake()
        }
        bed.sleep()
    }

    func fill() {
        start = .now() + .hours(10)
        for index in 0..<pending { tasks.append(add(at: deadline(index))) }
    }

    func addAndCancel(_ count: Int, _ scatter: inout Scatter) {
        for _ in 0..<count { add(at: deadline(scatter.next())).cancel() }
    }

    func replace(_ count: Int, _ scatter: inout Scatter) {
        for _ in 0..<count {
            let index = scatter.next()
            tasks[index].cancel()
            tasks[index] = add(at: deadline(scatter.next()))
        }
    }

    /// Not checked: the loop cannot run inside a job of its own.
    func fireSome(_ count: Int) throws(Miscount) {}

    private func add(at deadline: NIODeadline) -> Scheduled<Void> {
        loop.loop.scheduleTask(deadline: deadline) { [fires] in fires.note() }
    }

    private func deadline(_ index: Int) -> NIODeadline { start + .milliseconds(Int64(index)) }
}

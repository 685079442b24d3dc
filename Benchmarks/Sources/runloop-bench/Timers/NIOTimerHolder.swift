internal import CThreadControl
internal import NIOCore
internal import Synchronization

/// Isolates SwiftNIO's `scheduleTask`, on the loop's own thread.
final class NIOTimerHolder: ListedTimerHolder, @unchecked Sendable {
    // Safe because all that changes is touched by the loop's thread only.
    private let loop = NIOLoop()
    let pending: Int
    private let fires = Calls()
    var timers: [Scheduled<Void>] = []
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

    func begin() { start = .now() + .hours(10) }

    func add(at index: Int) -> Scheduled<Void> {
        loop.loop.scheduleTask(deadline: start + .milliseconds(Int64(index))) { [fires] in fires.note() }
    }

    func cancel(_ timer: Scheduled<Void>) { timer.cancel() }

    /// Not checked: the loop cannot run inside a job of its own.
    func fireSome(_ count: Int) throws(Miscount) {}
}

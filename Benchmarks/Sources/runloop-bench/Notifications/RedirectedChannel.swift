internal import Notifications
internal import RunLoops

/// Isolates a post whose one observer is called on another thread's loop.
///
/// Read the ratio to Foundation's `perform`: that is what one would write there.
final class RedirectedChannel: MessageChannel {
    private let thread: RunLoopThread
    private let center = NotificationCenter()
    private let name = Notification.Name("redirected")
    private let token: ObservationToken
    private let number: ThreadNumber

    init(sink: Sink) throws {
        thread = try RunLoopThread(name: "consumer")
        number = try thread.runLoop.performAndWait { ThreadNumber.current }
        token = center.addObserver(forName: name, on: thread.runLoop) { _ in sink.receive(1) }
    }

    var consumerThreads: [ThreadNumber] { [number] }

    var kernelWrites: Int? { Int(thread.runLoop.statistics.kernelWrites) }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for _ in 0..<count { center.post(name: name) }
        return count
    }
}

import RunLoops
import Streams
import Synchronization

/// The queue of one worker's events, to which all threads send.
///
/// The port is unlimited, because two workers that wait for room in each other's queues would wait forever. Instead, a worker stops
/// reading from a member while a queue ``isFull``, and resumes at the signal ``mayResume``. In the meantime the kernel's buffers
/// fill up, and the member has to wait.
final class EventQueue: Sendable {
    /// The work of a worker.
    enum Event: Sendable {
        /// Serve a new member, which has this number.
        case join(AcceptedSocket.Box, number: Int)
        /// Write a line to all members of the worker.
        case line([UInt8])
        /// Read no more lines.
        case stopReading
        /// Say goodbye to the members of the worker, and close their connections.
        case closeMembers
    }

    /// The events, in order.
    let events = Port<Event>(queueLimit: .unlimited)

    /// The signal that a queue is no longer full.
    let mayResume = Port<Void>()

    private let limit: Int
    private let count = Atomic(0)

    /// Makes an empty queue.
    ///
    /// - Parameter limit: The number of events at which the queue is full.
    init(limit: Int) { self.limit = limit }

    /// True if the queue has so many events that no more lines should be read.
    var isFull: Bool { count.load(ordering: .relaxed) >= limit }

    /// Sends an event, without waiting.
    func send(_ event: Event) {
        count.add(1, ordering: .relaxed)
        do { try events.send(event) } catch {
            preconditionFailure("workers end when nothing is sent any more")
        }
    }

    /// Counts a received event.
    ///
    /// - Returns: True if the count has just fallen to half of the limit, so that the members of all workers can be read again.
    func didReceive() -> Bool {
        count.subtract(1, ordering: .relaxed).newValue == limit / 2
    }

    /// Sends the signal that a queue is no longer full.
    func allowToResume() {
        do { try mayResume.send() } catch { preconditionFailure("workers end when nothing is sent any more") }
    }
}

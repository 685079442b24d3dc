import RunLoops
import Streams
import Synchronization

/// The queue of one worker's events, to which all threads send.
///
/// The port has no limit of its own: two workers that wait for room in each other's queues would wait for ever. Instead, a
/// worker stops reading from a member while some queue ``isFull``, and goes on when it gets the signal ``mayResume``. So the
/// kernel's buffers fill up, and the member has to wait.
final class EventQueue: Sendable {
    /// Something that a worker does.
    enum Event: Sendable {
        /// To serve a new member, who has this number.
        case join(AcceptedSocket.Box, number: Int)
        /// To write a line to all its members.
        case line([UInt8])
        /// To read no more lines.
        case stopReading
        /// To say goodbye to its members, and close their connections.
        case closeMembers
    }

    /// The events, in order.
    let events = Port<Event>(queueLimit: .unlimited)

    /// The signal that some queue is not full any more.
    let mayResume = Port<Void>()

    private let limit: Int
    private let count = Atomic(0)

    /// Makes an empty queue.
    ///
    /// - Parameter limit: The number of events from which on no more lines should be read.
    init(limit: Int) { self.limit = limit }

    /// True if there are so many events that no more lines should be read.
    var isFull: Bool { count.load(ordering: .relaxed) >= limit }

    /// Sends an event, without waiting.
    func send(_ event: Event) {
        count.add(1, ordering: .relaxed)
        do { try events.send(event) } catch {
            preconditionFailure("workers end when nothing is sent any more")
        }
    }

    /// Counts an event that was received.
    ///
    /// - Returns: True if the queue was perhaps full, and is half empty now: each such moment is reported once.
    func didReceive() -> Bool {
        count.subtract(1, ordering: .relaxed).newValue == limit / 2
    }

    /// Sends the signal that some queue is not full any more.
    func allowToResume() {
        do { try mayResume.send() } catch { preconditionFailure("workers end when nothing is sent any more") }
    }
}

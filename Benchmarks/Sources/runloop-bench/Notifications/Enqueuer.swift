/// A queue in which many notifications wait, each with a name of its own.
///
/// Everything is called on the queue's thread.
protocol Enqueuer: AnyObject, Sendable {
    /// The queue's thread.
    var thread: WorkerThread { get }

    /// Fills the empty queue.
    func fill()

    /// Enqueues so many that are each like one that waits, and are merged with it.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - scatter: Which of those that wait.
    func merge(_ count: Int, _ scatter: inout Scatter)

    /// Enqueues so many that are like none that waits.
    func add(_ count: Int)

    /// Lets the loop run until nothing waits.
    ///
    /// - Throws: If other notifications were posted than waited.
    func empty() throws(Miscount)
}

/// The queues that are compared.
enum EnqueueSubject: String, CaseIterable {
    case own = "RunLoops queue"
    case foundation = "Foundation queue"
    case dictionary = "look-up in a Swift Dictionary"

    /// Ours, theirs or neither.
    var role: Chart.Role {
        switch self {
        case .own: .ours
        case .foundation: .peer
        case .dictionary: .yardstick
        }
    }

    /// Makes a queue in which so many will wait.
    func make(pending: Int, others: Int) -> any Enqueuer {
        switch self {
        case .own: QueueEnqueuer(pending: pending, others: others)
        case .foundation: FoundationEnqueuer(pending: pending)
        case .dictionary: DictionaryEnqueuer(pending: pending)
        }
    }
}

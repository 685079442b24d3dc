/// The access of a loop to the main dispatch queue.
enum MainQueueAccess {
    /// The loop is not the main thread's.
    case ofAnotherLoop
    /// The loop is the main thread's, and cannot serve the queue.
    case outOfReach
    /// The loop is the main thread's, and serves the queue.
    case served(MainQueue)

    /// The queue, if this loop serves it.
    var queue: MainQueue? {
        switch self {
        case .served(let queue): queue
        case .ofAnotherLoop, .outOfReach: nil
        }
    }

    /// True if the loop is the main thread's, and runs inside no block of the queue.
    ///
    /// Such a loop may always get a block of the queue; a run inside a block serves no other.
    var mayGetBlocks: Bool {
        switch self {
        case .ofAnotherLoop: false
        case .outOfReach: true
        case .served(let queue): !queue.isServing
        }
    }
}

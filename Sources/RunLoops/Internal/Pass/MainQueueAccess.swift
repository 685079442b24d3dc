/// The access of a loop to the main dispatch queue.
enum MainQueueAccess {
    /// The loop is not the main thread's loop.
    case ofAnotherLoop
    /// The loop is the main thread's loop, but cannot serve the queue.
    case outOfReach
    /// The loop is the main thread's loop, and serves the queue.
    case served(MainQueue)

    /// The queue, if this loop serves it.
    var queue: MainQueue? {
        switch self {
        case .served(let queue): queue
        case .ofAnotherLoop, .outOfReach: nil
        }
    }

    /// True if the loop is the main thread's loop, and no block of the main queue is on the stack.
    ///
    /// Such a loop can get a block of the queue at any time; a run inside a block serves no other block of the queue.
    var mayGetBlocks: Bool {
        switch self {
        case .ofAnotherLoop: false
        case .outOfReach: true
        case .served(let queue): !queue.isServing
        }
    }
}

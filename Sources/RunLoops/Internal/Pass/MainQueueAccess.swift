/// The relation between a loop and the main dispatch queue.
enum MainQueueAccess {
    /// The loop is not the main thread's loop.
    case ofAnotherLoop
    /// The loop is the main thread's loop, but it cannot serve the main queue.
    case outOfReach
    /// The loop is the main thread's loop, and it serves the main queue.
    case served(MainQueue)

    /// The main queue, if this loop serves it.
    var queue: MainQueue? {
        switch self {
        case .served(let queue): queue
        case .ofAnotherLoop, .outOfReach: nil
        }
    }

    /// True if the loop is the main thread's loop.
    var isOfMainThread: Bool {
        switch self {
        case .ofAnotherLoop: false
        case .outOfReach, .served: true
        }
    }

    /// True if the loop is the main thread's loop, and is not running a block of the main queue.
    ///
    /// Such a loop can get a block of the main queue at any time. A run inside a block of the main queue serves no other block of
    /// that queue.
    var mayGetBlocks: Bool {
        switch self {
        case .ofAnotherLoop: false
        case .outOfReach: true
        case .served(let queue): !queue.isServing
        }
    }
}

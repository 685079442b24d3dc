internal import Foundation
internal import Notifications

internal import struct Notifications.Notification

/// Calls the handlers of observers that were registered with an operation queue.
///
/// The thread that posts a notification waits for each call.
enum HandlerQueue {
    /// Calls a handler in an operation of a queue, and waits until the handler has returned.
    ///
    /// If the caller is itself in an operation of the queue, the handler is called directly, because the queue may be waiting for
    /// that operation.
    static func call(
        _ handler: @escaping @Sendable (Notification) -> Void, with notification: Notification,
        in queue: OperationQueue
    ) {
        let isCurrent = queue === OperationQueue.main ? isMain : queue === OperationQueue.current
        if isCurrent { return handler(notification) }
        let operation = BlockOperation { handler(notification) }
        queue.addOperation(operation)
        operation.waitUntilFinished()
    }

    /// Calls a handler on the main actor, and waits until the handler has returned.
    static func callOnMainActor(
        _ handler: @escaping @MainActor (Notification) -> Void, with notification: Notification
    ) {
        call(
            { notification in MainActor.assumeIsolated { handler(notification) } }, with: notification,
            in: .main)
    }

    /// True if the caller is on the main thread, or in a block of the main dispatch queue.
    ///
    /// If the program has given up the main thread, for example with `dispatchMain()`, the blocks of the main queue run on another
    /// thread.
    private static var isMain: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil
    }

    private static let mainQueueMark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()
}

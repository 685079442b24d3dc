internal import Foundation
internal import Notifications

internal import struct Notifications.Notification

/// Calls the handlers of observers that have an operation queue, while the post waits for them.
enum HandlerQueue {
    /// Calls a handler in an operation of a queue, and waits until it has returned.
    ///
    /// In an operation of that very queue the handler is called at once, because its own queue may be waiting for it.
    static func call(
        _ handler: @escaping @Sendable (Notification) -> Void, with notification: Notification,
        in queue: OperationQueue
    ) {
        if queue === OperationQueue.current { return handler(notification) }
        let operation = BlockOperation { handler(notification) }
        queue.addOperation(operation)
        operation.waitUntilFinished()
    }

    /// Calls a handler on the main actor, and waits until it has returned.
    static func callOnMainActor(
        _ handler: @escaping @MainActor (Notification) -> Void, with notification: Notification
    ) {
        if Thread.isMainThread { return MainActor.assumeIsolated { handler(notification) } }
        let operation = BlockOperation { MainActor.assumeIsolated { handler(notification) } }
        OperationQueue.main.addOperation(operation)
        operation.waitUntilFinished()
    }
}

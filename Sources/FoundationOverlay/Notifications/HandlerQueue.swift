internal import Foundation
internal import Notifications
internal import Synchronization

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
        let handOver = HandOver(notification)
        let operation = BlockOperation { if let notification = handOver.take() { handler(notification) } }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        // The queue has cancelled the operation if the notification is still there.
        _ = handOver.take()
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

/// A notification on its way to an operation, which takes it.
///
/// The thread of a queue keeps the block of an operation for a moment after the operation has finished, and a cancelled operation can
/// be kept for long. The object of the notification can be in its deinitializer, so nothing may keep it when the post returns.
private final class HandOver: Sendable {
    private let notification: Mutex<Notification?>

    init(_ notification: Notification) { self.notification = Mutex(notification) }

    func take() -> Notification? { notification.withLock { $0.take() } }
}

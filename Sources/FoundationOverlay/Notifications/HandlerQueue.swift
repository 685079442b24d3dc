internal import Foundation
internal import Notifications

internal import struct Notifications.Notification

/// The calls of handlers whose observers have an operation queue; the post waits for each call.
enum HandlerQueue {
    /// Calls a handler in an operation of a queue, and waits until it has returned.
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

    /// Calls a handler on the main actor, and waits until it has returned.
    static func callOnMainActor(
        _ handler: @escaping @MainActor (Notification) -> Void, with notification: Notification
    ) {
        call(
            { notification in MainActor.assumeIsolated { handler(notification) } }, with: notification,
            in: .main)
    }

    /// True on the main thread and, if the program has given up that thread, as with `dispatchMain()`, in blocks of the main
    /// dispatch queue on any other thread.
    private static var isMain: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil
    }

    private static let mainQueueMark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()
}

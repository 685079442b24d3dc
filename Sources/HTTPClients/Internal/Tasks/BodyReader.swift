internal import RunLoops

/// The right of a task to read the answer of a transfer.
///
/// The bytes stay in the transfer until the task takes them. If the last reference to this object is released before the transfer
/// has ended, the transfer is cancelled.
///
/// > Thread safety: the loop's own thread only, except for `deinit`.
final class BodyReader {
    let transfer: HTTPTransfer

    init(_ transfer: HTTPTransfer) {
        self.transfer = transfer
        transfer.contents.isReadByTask = true
    }

    deinit {
        // Only the thread of the loop may access the transfer, but the last reference may be released on another thread.
        let last = LastReference(transfer: transfer)
        transfer.loop.doLast { last.transfer.cancel() }
    }

    /// A transfer that the reader's `deinit` passes to the thread of the loop.
    ///
    /// `@unchecked`: the reader is being destroyed, so the task can no longer use the transfer, and all other uses are on the
    /// thread of the loop.
    private struct LastReference: @unchecked Sendable { let transfer: HTTPTransfer }

    /// Removes and returns the received bytes that the transfer has stored; nil if there are none.
    func take() -> [UInt8]? {
        if transfer.contents.inbox.isEmpty { return nil }
        let bytes = transfer.contents.inbox
        transfer.contents.inbox = []
        transfer.contents.transferSet?.resumeIfEmptied(transfer)
        return bytes
    }

    /// Suspends the calling task until the transfer has something new for the task, or has ended.
    ///
    /// The wait ends when the header or bytes of the body arrive, or when there is room for more bytes of the request's body. If
    /// the task is cancelled, the transfer is cancelled.
    func wait(isolation: isolated (any Actor)?) async {
        if transfer.contents.wait != nil {
            misuse("HTTPBody: two tasks await the body of the \(transfer); let one task iterate over it")
        }
        let task = OneShot<WakeUp>()
        let news = await task.value(
            before: .never, timedOut: .cancelled, cancelled: .cancelled, isolation: isolation
        ) {
            transfer.contents.wait = task
        }
        transfer.contents.wait = nil
        if case .cancelled = news { transfer.cancel() }
    }
}

extension HTTPTransfer {
    /// Wakes the task that waits for this transfer, if there is one.
    ///
    /// The task then checks its condition again.
    func wakeTask() { contents.wait?.decide(.something) }
}

/// The event that ends the wait of a task.
enum WakeUp: Sendable {
    case something
    case cancelled
}

internal import RunLoops

/// The right of a task to read the answer of a transfer.
///
/// The bytes stay in the transfer until the task takes them. If the last reference to this object is released before the transfer
/// has ended, the transfer is cancelled.
///
/// > Thread safety: the loop's own thread only, except for `deinit`.
final class BodyReader {
    let transfer: HTTPTransfer

    /// The number of steps of decoding since the task has last let others have their turn.
    private var steps = 0
    private static let stepLimit = 4

    init(_ transfer: HTTPTransfer) {
        self.transfer = transfer
        transfer.contents.isReadByTask = true
    }

    deinit {
        // Only the thread of the loop may access the transfer, but the last reference may be released on another thread.
        let last = LastReference(transfer: transfer)
        transfer.loop.doLast {
            last.transfer.cancel()
            last.transfer.contents.body.discard()
            last.transfer.recount()
        }
    }

    /// A transfer that the reader's `deinit` passes to the thread of the loop.
    ///
    /// `@unchecked`: the reader is being destroyed, so the task can no longer use the transfer, and all other uses are on the
    /// thread of the loop.
    private struct LastReference: @unchecked Sendable { let transfer: HTTPTransfer }

    /// Removes and returns received bytes that the transfer has stored; nil if there are none.
    func take() -> [UInt8]? {
        while transfer.contents.body.hasBytes {
            var bytes: [UInt8]
            if transfer.contents.body.isCoded {
                steps += 1
                do throws(HTTPClientError) { bytes = try transfer.contents.body.decode() } catch {
                    transfer.fail(error)
                    return nil
                }
            } else {
                bytes = transfer.contents.body.takeBytes()
            }
            transfer.recount()
            transfer.contents.transferSet?.resumeIfEmptied(transfer)
            if !bytes.isEmpty { return bytes }
        }
        return nil
    }

    /// True if the task has decoded so much that others should have their turn.
    var isDueToYield: Bool {
        if steps < BodyReader.stepLimit { return false }
        steps = 0
        return true
    }

    /// Suspends the calling task until the transfer has something new for the task, or has ended.
    ///
    /// The wait ends when the header or bytes of the body arrive, or when there is room for more bytes of the request's body. If
    /// the task is cancelled, the transfer is cancelled.
    func wait(isolation: isolated (any Actor)?) async {
        if transfer.contents.wait != nil {
            misuse(
                "HTTPClient.Response.Body: two tasks await the body of the \(transfer); let one task iterate over it"
            )
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

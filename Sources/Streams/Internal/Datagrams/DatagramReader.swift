internal import RunLoops

/// The receiver of a socket whose datagrams a task reads.
///
/// > Thread safety: the loop's own thread only.
final class DatagramReader {
    /// The one-shot that wakes the task; nil if the task is not waiting.
    var waiting: OneShot<WakeUp>?

    var isWaiting: Bool { waiting?.isDecided == false }

    func wake() { waiting?.decide(.something) }
}

extension DatagramSocket {
    /// What a task gets that asks for a datagram.
    enum Taken {
        case datagram(Datagram)
        case nothing
        /// There are no more datagrams; the reason is nil if that is not an error.
        case over(EndReason?)
    }

    /// Makes a handler or a task the receiver, in place of the one before.
    func setReceiver(_ receiver: Receiver) {
        if !isOpen { return }
        var replaced = receiver
        input.receiverVersion &+= 1
        swap(&replaced, &handlers.receiver)
        // The task then finds that another receiver has replaced it.
        if case .task(let reader) = replaced { reader.wake() }
        watch()
        // The replaced receiver is released last, because destroying an object that it holds can call the socket.
        withExtendedLifetime(replaced) {}
    }

    func take(for reader: DatagramReader) -> Taken {
        requireOwnThread("DatagramSocket.datagrams")
        switch stage {
        case .ended(.closed), .reported(.closed): return .over(nil)
        case .ended(let reason), .reported(let reason): return .over(reason)
        case .open: break
        }
        guard !end.hasEnded, case .task(let current) = handlers.receiver, current === reader else {
            return .over(nil)
        }
        guard !input.isPaused, let inbox = input.inbox, !inbox.isEmpty else { return .nothing }
        let taken = withExtendedLifetime(inbox) {
            let datagram = inbox.takeNext()
            note(datagram)
            return Datagram(
                bytes: datagram.withBytes { [UInt8]($0) }, sender: datagram.sender,
                isTruncated: datagram.isCut)
        }
        giveBackInbox()
        return .datagram(taken)
    }

    /// Suspends the task until the socket has received datagrams for it, or has ended.
    func wait(_ reader: DatagramReader, isolation: isolated (any Actor)?) async {
        let task = OneShot<WakeUp>()
        let news = await task.value(
            before: .never, timedOut: .cancelled, cancelled: .cancelled, isolation: isolation
        ) {
            if reader.isWaiting {
                misuse(
                    "DatagramSocket.datagrams: two tasks await datagrams of the \(self); let one task iterate over them"
                )
            }
            reader.waiting = task
            watch()
        }
        if reader.waiting === task { reader.waiting = nil }
        // The result is also `cancelled` if the task was cancelled before the wait.
        if case .cancelled = news { end(.cancelled) }
    }
}

internal import CLibEvent
internal import CRunLoops
internal import Glibc
internal import Synchronization

/// An eventfd with which any thread can end a loop's sleep.
///
/// The loop polls ``descriptor`` edge-triggered. Every write makes a new edge, and the kernel also reports an edge that was made
/// before the poll. So the eventfd is read only if its counter is full.
///
/// ``end()`` closes the descriptor when the loop's thread ends. If the loop never had a thread, the descriptor is closed when this
/// value is destroyed. A sender counts itself before it writes, and ``end()`` waits for the counted senders. So no sender writes to
/// the descriptor after it was closed, when its number can refer to another file.
///
/// > Thread safety: any thread.
struct Wakeup: ~Copyable, Sendable {
    let descriptor: CInt

    /// The number of senders that are about to write; the highest bit is ``ended``.
    private let senders = Atomic<UInt>(0)

    /// The bit of ``senders`` that is set when the loop's thread ends; after that, no sender begins to write.
    private static let ended: UInt = 1 << 63

    /// A gate that is opened when the last counted sender has written, after the loop's thread has set ``ended``.
    private let allHaveWritten = ThreadGate()

    init() throws(SystemError) {
        descriptor = try systemCall("eventfd") { eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK)) }
    }

    deinit { if senders.load(ordering: .acquiring) & Wakeup.ended == 0 { close(descriptor) } }

    /// Closes the descriptor after the last counted sender has written.
    ///
    /// The thread that ends the loop calls this once.
    func end() {
        // One word contains the mark and the count. So a sender that is not in the old count finds the mark, and does not write.
        if senders.bitwiseOr(Wakeup.ended, ordering: .acquiringAndReleasing).oldValue != 0 {
            allHaveWritten.wait()
        }
        close(descriptor)
    }

    /// Ends the loop's current or next sleep.
    ///
    /// If the loop has ended, the call does nothing.
    ///
    /// - Parameter beforeWriting: A hook for tests, called after `senders` has counted the sender and before the sender writes.
    func signal(beforeWriting: () -> Void = {}) {
        // Nothing here is a point at which the thread can be cancelled. If the thread ended in the write, nobody would wake the loop:
        // this sender has already disarmed the loop's mailbox.
        if senders.add(1, ordering: .acquiring).oldValue & Wakeup.ended == 0 {
            beforeWriting()
            writeAnyhow()
        }
        // The subtraction is releasing, so that the write comes before the close.
        if senders.subtract(1, ordering: .releasing).newValue == Wakeup.ended { allHaveWritten.open() }
    }

    private func writeAnyhow() {
        if write() { return }
        if errno == EAGAIN {
            // The counter is full, after 2⁶⁴ − 1 writes or because of other code. After this sender or another sender has emptied
            // the counter, it accepts the next write, which is an edge again.
            runloops_empty_eventfd(descriptor)
            if write() { return }
        }
        fatalError("RunLoop: the descriptor that wakes a loop was closed by other code (errno \(errno))")
    }

    private func write() -> Bool {
        while !runloops_raise_eventfd(descriptor) { if errno != EINTR { return false } }
        return true
    }
}

/// A task's iteration over the messages of a port.
///
/// Like a loop or a port set, the iteration is the port's receiver: it holds the port's ``Claim``.
///
/// The iteration arms the mailbox or the bell only when the port is empty. From then on, the mailbox or the bell owns the signal's
/// node. A sender that takes the node out owns it until the sender has woken the task. If the iteration disarms the mailbox or
/// the bell first, the iteration gets the node back.
///
/// The type is not thread-safe: the iterating task makes its calls one after the other. Any thread may release the last reference.
@usableFromInline
final class PortReception {
    /// The port itself, which the iteration retains.
    private let port: AnyObject
    private let core: PortCore
    private let bell = TaskBell()

    /// The signal with which the iteration arms an empty port; nil after the iteration has ended.
    private var signal: ReadyNode?
    /// True from the time the port is armed until a sender has woken the task.
    private var isArmed = false
    /// The message in the slot that was returned last, until the caller has moved the message out and calls ``finishTaking()``.
    private var taken: Node.Taken?

    /// Begins the iteration, and takes the port's ``Claim`` unless the port has ended.
    init(_ port: AnyObject, _ core: PortCore) {
        Fork.check("Port.messages")
        self.port = port
        self.core = core
        if core.isClosed { return }
        if core.receiver.claim.takeIfFree(for: self) {
            signal = ReadyNode(to: bell)
        } else if !core.isClosed {
            misuse(
                "Port.messages: the port made at \(core.origin) is in a loop, in a set or in another iteration; end that first"
            )
        }
    }

    deinit {
        // In a forked child, the receiver belongs to the parent process.
        if !Fork.isChild { end() }
    }

    /// Waits for a message, and returns its slot.
    ///
    /// - Returns: The slot of the message; nil on this and every later call if the port has ended or the task was cancelled. The
    ///   caller first moves the message out of the slot, and then calls ``finishTaking()``.
    @usableFromInline
    func next(isolation: isolated (any Actor)?) async -> Node.Slot? {
        Fork.check("Port.messages")
        while let signal {
            if core.isClosed || Task.isCancelled { break }
            if isArmed {
                guard await bell.wait(isolation: isolation) else { break }
                isArmed = false
                continue
            }
            if core.isSignalPort {
                // The bell is armed before the element is returned, so that no later ring is lost. The only other mail of a signal
                // port is notices, which stay in the mailbox.
                isArmed = true
                if core.bell.arm(with: signal.retainedNode()) { return Node.Slot(signal.node) }
                continue
            }
            if let slot = takeMessage() { return slot }
            isArmed = core.arm(with: signal)
        }
        end()
        return nil
    }

    /// Removes the oldest message from the port, if there is one, and returns its slot.
    private func takeMessage() -> Node.Slot? {
        _ = core.takeMail()
        while let node = core.next {
            let taken = core.take(from: node)
            if node.mark == .noSenders {
                // An iteration has no handler for the notice. The next call of `onNoSenders` requests a new notice.
                _ = core.noSendersNoticeArrives(isWanted: false)
                node.freeStandalone()
                continue
            }
            self.taken = taken
            return taken.slot
        }
        return nil
    }

    /// Releases the node of the message that was taken, if no other message is left in the node.
    @usableFromInline
    func finishTaking() {
        guard let taken else { return }
        self.taken = nil
        if !taken.isLast { return }
        if taken.takesRoom { PortCore.discard(taken.slot.node) } else { taken.slot.node.freeStandalone() }
    }

    /// Stops receiving, and releases the claim.
    private func end() {
        guard let signal else { return }
        self.signal = nil
        if isArmed { core.disarm(signal) }
        core.receiver.claim.release()
        core.destroyWhatIsLeft()
    }
}

/// Wakes the task that iterates over the messages of a port.
///
/// > Thread safety: any thread; at most one task waits at a time.
final class TaskBell: SignalReceiver {
    private enum State: Sendable {
        case quiet
        /// The bell was rung, and no task has waited since then.
        case rung
        /// A task waits for the bell.
        case awaited(OneShot<Bool>)
    }

    private let state = Guarded(State.quiet)

    /// Wakes the task, because a sender has found the port empty or the port has ended.
    func becameReady() {
        let waiter: OneShot<Bool>? = state.withLock { state in
            switch state {
            case .quiet, .rung:
                state = .rung
                return nil
            case .awaited(let waiter):
                state = .quiet
                return waiter
            }
        }
        waiter?.decide(true)
    }

    /// Suspends the task until the bell is rung.
    ///
    /// - Returns: False if the task was cancelled first.
    func wait(isolation: isolated (any Actor)?) async -> Bool {
        let waiter = OneShot<Bool>()
        let wasRung = state.withLock { state in
            switch state {
            case .rung:
                state = .quiet
                return true
            case .quiet, .awaited:
                state = .awaited(waiter)
                return false
            }
        }
        if wasRung { return true }
        let isRung = await waiter.value(
            before: .never, timedOut: false, cancelled: false, isolation: isolation
        ) {}
        return isRung
    }
}

@available(*, unavailable)
extension PortReception: Sendable {}

/// A task's iteration over the messages of a port: it has the port's claim, as a loop or a set does.
///
/// The mailbox or the bell is armed only when there is nothing to receive. From then on a sender has the node of the signal, until
/// it has woken the task, or the iteration disarms.
///
/// Not thread-safe: the calls come one after the other, from the task that iterates; the last reference may be released by any
/// thread.
@usableFromInline
final class PortReception {
    /// The port itself, which is kept while it is received from.
    private let port: AnyObject
    private let core: PortCore
    private let bell = TaskBell()

    /// The signal that the empty port is armed with; nil once the iteration has ended.
    private var signal: ReadyNode?
    /// True from the arming until a sender has woken the task.
    private var isArmed = false
    /// The message that is being moved out.
    private var taken: Node.Taken?

    /// Takes the claim of the port, unless that has ended.
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
        // In a forked child the receiver is its parent's.
        if !Fork.isChild { end() }
    }

    /// Waits for a message, and takes it out.
    ///
    /// - Returns: The slot of the message, which the caller moves out before it calls ``finishTaking()``; nil if the port has
    ///   ended or the task was cancelled, and from then on.
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
                // Armed before the element is returned, so that a ring meanwhile is not lost. The only other mail of such a port
                // is notices, which stay.
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

    /// Takes the oldest message out, if there is one.
    private func takeMessage() -> Node.Slot? {
        _ = core.takeMail()
        while let node = core.next {
            let taken = core.take(from: node)
            if node.mark == .noSenders {
                // There is no handler for it; the next call of `onNoSenders` asks for a notice again.
                _ = core.noSendersNoticeArrives(isWanted: false)
                node.freeStandalone()
                continue
            }
            self.taken = taken
            return taken.slot
        }
        return nil
    }

    /// Gives the node of the message back, if it was the last one in it.
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
/// > Thread safety: any thread; one task at a time waits.
final class TaskBell: SignalReceiver {
    private enum State: Sendable {
        case quiet
        /// Rung, and no task has waited since.
        case rung
        /// A task waits.
        case awaited(OneShot<Bool>)
    }

    private let state = Guarded(State.quiet)

    /// Wakes the task: a sender has found the port empty, or the port has ended.
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

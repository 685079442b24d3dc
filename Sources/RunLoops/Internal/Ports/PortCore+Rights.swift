// The effects of rights on a port, and the no-senders notice, which the port sends its receiver when no send right is left.

extension PortCore {
    // MARK: - Send rights

    func makeSendRight() { rightsRecord.withLock { $0.rights.makeSendRight() } }

    /// Records that the last copy of a send right was released.
    func dropSendRight() {
        // In a forked child the receiver belongs to the parent process, and must not get a notice.
        if Fork.isChild { return }
        perform(rightsRecord.withLock { $0.rights.dropSendRight() })
    }

    // MARK: - Send-once rights

    /// Makes a node for the message of a send-once right.
    ///
    /// The right keeps the node until the right sends it.
    @usableFromInline
    func makeSendOnceNode() -> Node {
        rightsRecord.withLock { $0.rights.makeSendOnceRight() }
        return Node.makeStandalone(.beyondLimit)
    }

    /// Queues the message of a send-once right, even beyond the port's limit.
    ///
    /// - Returns: Nil if the message was queued; otherwise the reason for the refusal. In that case the caller still owns the node.
    @usableFromInline
    func sendOnce(_ node: Node) -> Refusal? {
        Fork.check("SendOnceRight.send")
        rightsRecord.withLock { $0.rights.endSendOnceRight() }
        return queueOnce(node)
    }

    /// Queues the message that a send-once right sends when the right is released unused.
    @usableFromInline
    func sendUnused(_ node: Node) {
        if Fork.isChild { return }
        rightsRecord.withLock { $0.rights.endSendOnceRight() }
        if queueOnce(node) != nil { destroyStandalone(node) }
    }

    /// Frees the node of a send-once right, after the message was taken out of the node.
    @usableFromInline
    static func discardSendOnceNode(_ node: Node) { node.freeStandalone() }

    private func queueOnce(_ node: Node) -> Refusal? {
        if !isSignalPort { return queueBeyondLimit(node) ? nil : .invalid }
        if let refusal = ring() { return refusal }
        destroyStandalone(node)
        return nil
    }

    /// Queues a node even if the port is full, because the node takes no room.
    ///
    /// - Returns: False if the port has ended. In that case the caller still owns the node.
    private func queueBeyondLimit(_ node: Node) -> Bool {
        if Recorder.isOn { queue.mailbox.noteSend(Mailbox.Chain(uncounted: node), origin) }
        switch queue.mailbox.push(Mailbox.Chain(uncounted: node)) {
        case .queued: return true
        case .queuedToArmed(let signal):
            if let signal { ReadyNode.send(signal) }
            return true
        case .closed: return false
        case .full, .raced: preconditionFailure("push asks for no room, and repeats until it is decided")
        }
    }

    // MARK: - No senders

    /// Stores the handler that the port's loop calls when the last send right has been released.
    func onNoSenders(_ handler: @escaping () -> Void) {
        Fork.check("Port.onNoSenders")
        guard let handle = LoopHandle.ofThread, receiver.claim.isHeld(by: handle),
            let input = unsafe receiver.state.value.input
        else {
            // The handler is not needed: a port that has ended leaves its loop, and a loop that has ended has no ports, so no loop
            // would call the handler.
            if isClosed || RunLoop.existing?.hasEnded == true { return }
            misuse(
                "Port.onNoSenders: the port made at \(origin) is not in this thread's loop; add it to the loop first, and ask on its thread"
            )
        }
        let replaced = input.noSenders
        input.noSenders = handler
        // The old handler is released after the assignment, because destroying the objects that it holds can call this function
        // again.
        withExtendedLifetime(replaced) {}
        perform(rightsRecord.withLock { $0.rights.requestNotice() })
    }

    /// Cancels the request for the no-senders notice, which says that no send right is left.
    ///
    /// This is called because the port has left the loop that would call the handler.
    func cancelNoSenders() { rightsRecord.withLock { $0.rights.cancelNotice() } }

    /// Records that the receiver has got the no-senders notice, which says that no send right is left.
    ///
    /// - Parameter isWanted: True if there is a handler for the notice.
    /// - Returns: True if the caller must call the handler.
    func noSendersNoticeArrives(isWanted: Bool) -> Bool {
        let action = rightsRecord.withLock { $0.rights.noticeArrives(isWanted: isWanted) }
        perform(action)
        switch action {
        case .callHandler: return true
        case .nothing, .queueNotice: return false
        }
    }

    private func perform(_ action: PortRights.Action) {
        switch action {
        case .nothing, .callHandler: break
        case .queueNotice:
            let node = Node.makeStandalone(.noSenders)
            if !queueBeyondLimit(node) { return node.freeStandalone() }
            // The receiver of a signal port sleeps on the bell. A nudge wakes the receiver and does not count as a signal.
            if isSignalPort, let signal = bell.nudge() { ReadyNode.send(signal) }
        }
    }

    // MARK: - End

    /// Registers a callback for the end of the port.
    ///
    /// When the port ends, the callback is scheduled on its own loop. If the port has already ended, the callback is scheduled
    /// immediately.
    func addInvalidationHandler(_ callback: LoopCallback) {
        let isNow = rightsRecord.withLock { record in
            if !record.rights.hasEnded { record.endCallbacks.add(callback) }
            return record.rights.hasEnded
        }
        if isNow { callback.schedule() }
    }

    /// Stops the no-senders notices, and schedules the callbacks that were registered for the port's end.
    func endRights() {
        let endCallbacks = rightsRecord.withLock { record in
            record.rights.end()
            defer { record.endCallbacks = LoopCallbacks() }
            return record.endCallbacks
        }
        endCallbacks.schedule()
    }

    /// Destroys a node that was allocated on its own, not in a slab, together with the message in it.
    func destroyStandalone(_ node: Node) {
        switch node.mark {
        case .beyondLimit: destroyMessages(of: node)
        case .noSenders: break
        case .ordinary, .pack: preconditionFailure("a node of a slab is released, not freed")
        }
        node.freeStandalone()
    }
}

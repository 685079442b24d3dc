/// What a port keeps for its rights.
struct RightsRecord: Sendable {
    var rights = PortRights()
    /// Who is to be told of the port's end.
    var watchers = EndWatchers()
}

// What rights do to a port, and what the port tells its receiver of them.

extension PortCore {
    // MARK: - Send rights

    func makeSendRight() { rightsRecord.withLock { $0.rights.makeSendRight() } }

    /// The last copy of a send right has gone.
    func dropSendRight() {
        // In a forked child the receiver is its parent's: it must not hear of it.
        if Fork.isChild { return }
        perform(rightsRecord.withLock { $0.rights.dropSendRight() })
    }

    // MARK: - Send-once rights

    /// Makes a node for a right's message, which it carries until it is sent.
    @usableFromInline
    func makeSendOnceNode() -> Node {
        rightsRecord.withLock { $0.rights.makeSendOnceRight() }
        return Node.makeLone(.beyondLimit)
    }

    /// Queues the message of a send-once right, beyond the limit.
    ///
    /// - Returns: Nil, or why not: then the node is the caller's still.
    @usableFromInline
    func sendOnce(_ node: Node) -> Refusal? {
        Fork.check("SendOnceRight.send")
        rightsRecord.withLock { $0.rights.endSendOnceRight() }
        return queueOnce(node)
    }

    /// A send-once right is destroyed unused: the message that it holds says so.
    @usableFromInline
    func sendUnused(_ node: Node) {
        if Fork.isChild { return }
        rightsRecord.withLock { $0.rights.endSendOnceRight() }
        if queueOnce(node) != nil { destroyLone(node) }
    }

    /// Gives back a node whose message was taken out.
    @usableFromInline
    static func discardSendOnceNode(_ node: Node) { node.freeLone() }

    private func queueOnce(_ node: Node) -> Refusal? {
        if !merges { return queueBeyondLimit(node) ? nil : .invalid }
        if let refusal = ring() { return refusal }
        destroyLone(node)
        return nil
    }

    /// Puts a node that does not count at the end of the queue.
    ///
    /// - Returns: False if the port has ended; then the node is still the caller's.
    private func queueBeyondLimit(_ node: Node) -> Bool {
        switch mailbox.push(Mailbox.Chain(uncounted: node)) {
        case .queued: return true
        case .queuedToArmed(let signal):
            if let signal { ReadyNode.send(signal) }
            return true
        case .closed: return false
        case .full, .raced: preconditionFailure("push asks for no room, and repeats until it is decided")
        }
    }

    // MARK: - No senders

    /// Has the loop that the port is in call a handler when the last send right has gone.
    func onNoSenders(_ handler: @escaping () -> Void) {
        Fork.check("Port.onNoSenders")
        guard let loop = RunLoop.existing, claim.isHeld(by: loop.handle), let input = unsafe input else {
            // A port that has ended, and every port in a loop that has, leaves it without being asked.
            if isClosed || RunLoop.existing?.hasEnded == true { return }
            misuse(
                "Port.onNoSenders: the port made at \(origin) is not in this thread's loop; add it to the loop first, and ask on its thread"
            )
        }
        let replaced = input.noSenders
        input.noSenders = handler
        // Not in the change itself: what it holds may come back here.
        withExtendedLifetime(replaced) {}
        perform(rightsRecord.withLock { $0.rights.ask() })
    }

    /// The port has left the loop that was to call a handler.
    func stopAskingForNoSenders() { rightsRecord.withLock { $0.rights.stopAsking() } }

    /// A notice has come to the receiver.
    ///
    /// - Parameter isWanted: Whether there is a handler for it.
    /// - Returns: Whether to call the handler.
    func noSendersNoticeArrives(isWanted: Bool) -> Bool {
        let action = rightsRecord.withLock { $0.rights.noticeArrives(isWanted: isWanted) }
        perform(action)
        switch action {
        case .tellReceiver: return true
        case .nothing, .queueNotice: return false
        }
    }

    private func perform(_ action: PortRights.Action) {
        switch action {
        case .nothing, .tellReceiver: break
        case .queueNotice:
            let node = Node.makeLone(.noSenders)
            if !queueBeyondLimit(node) { return node.freeLone() }
            // A port without messages sleeps on its bell; a nudge is not a signal.
            if merges, let signal = bell.nudge() { ReadyNode.send(signal) }
        }
    }

    // MARK: - End

    /// Has a loop's handler called when the port ends, which may be now.
    func onInvalidation(_ watcher: EndWatcher) {
        let isNow = rightsRecord.withLock { record in
            if !record.rights.hasEnded { record.watchers.add(watcher) }
            return record.rights.hasEnded
        }
        if isNow { watcher.tell() }
    }

    /// The port has ended.
    func endRights() {
        let watchers = rightsRecord.withLock { record in
            record.rights.end()
            defer { record.watchers = EndWatchers() }
            return record.watchers
        }
        watchers.tell()
    }

    /// Destroys a node that came alone, with what is in it.
    func destroyLone(_ node: Node) {
        switch node.mark {
        case .beyondLimit: destroyMessages(of: node)
        case .noSenders: break
        case .ordinary, .pack: preconditionFailure("a node of a slab is released, not freed")
        }
        node.freeLone()
    }
}

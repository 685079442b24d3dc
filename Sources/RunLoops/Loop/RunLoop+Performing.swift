extension RunLoop {
    /// Performs a block on the loop's thread, in the common modes, and returns at once.
    ///
    /// If the loop sleeps, it is woken. Blocks of one thread run once each, in the order of the calls. If a block performs another
    /// block, the other block runs later, not at once. If the loop does not run, or runs in another mode, the block waits.
    ///
    /// ```swift
    /// worker.perform { cache.removeAll() }
    /// ```
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: False if the loop's thread has ended; in that case the block is destroyed at once. If the thread ends while the
    ///   block waits, the block is destroyed without having run.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func perform(
        fileID: StaticString = #fileID, line: Int = #line, _ block: consuming @escaping @Sendable () -> Void
    ) -> Bool {
        let node = SlabCache.takeNode()
        node.kind = .block
        node.store(BlockMessage(body: consume block, modes: nil, origin: SourceLocation(fileID, line)))
        return post(node)
    }

    /// Performs a block on the loop's thread, in one of several modes, and returns at once.
    ///
    /// This is the same as ``perform(fileID:line:_:)``, but the block runs once, when the loop next runs in any of the modes.
    ///
    /// - Parameters:
    ///   - modes: The modes; at least one mode. ``Mode/common`` stands for all common modes.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: False if the loop's thread has ended; in that case the block is destroyed at once.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func perform(
        inModes modes: [Mode], fileID: StaticString = #fileID, line: Int = #line,
        _ block: consuming @escaping @Sendable () -> Void
    ) -> Bool {
        if modes.isEmpty { misuse("RunLoop.perform: no mode, so the block would never run; use [.common]") }
        return perform(consume block, modes, fileID, line)
    }

    /// Performs a block on the loop's thread, in any mode.
    ///
    /// The block may pass work on to the loop, but must not call user code: user code may run only in the modes that the user has
    /// chosen for it.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: False if the loop's thread has ended; in that case the block is destroyed at once.
    @discardableResult
    package func performInEveryMode(
        fileID: StaticString = #fileID, line: Int = #line, _ block: consuming @escaping @Sendable () -> Void
    ) -> Bool {
        perform(consume block, [], fileID, line)
    }

    /// Performs a block of the package itself, which is not reported if the loop never runs.
    ///
    /// - Parameters:
    ///   - modes: The modes; nil for the common modes.
    ///   - block: The block.
    /// - Returns: False if the loop's thread has ended; in that case the block is destroyed at once.
    @discardableResult
    package func performOwn(
        inModes modes: [Mode]? = nil, _ block: consuming @escaping @Sendable () -> Void
    ) -> Bool {
        let place = SourceLocation.ownWork
        guard let modes else { return perform(fileID: place.fileID, line: 0, consume block) }
        return perform(consume block, modes, place.fileID, 0)
    }

    private func perform(
        _ block: consuming @escaping @Sendable () -> Void, _ modes: [Mode], _ fileID: StaticString,
        _ line: Int
    ) -> Bool {
        let node = SlabCache.takeNode()
        node.kind = .blockInModes
        node.store(BlockMessage(body: consume block, modes: modes, origin: SourceLocation(fileID, line)))
        return post(node)
    }

    /// Performs several blocks on the loop's thread, in the common modes.
    ///
    /// This does the same as a call of ``perform(fileID:line:_:)`` for each block, and is cheaper. Blocks of other threads do not
    /// run between these blocks.
    ///
    /// - Parameters:
    ///   - blocks: The blocks, in order.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: False if the loop's thread has ended; in that case the blocks are destroyed at once.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func perform(
        contentsOf blocks: some Sequence<@Sendable () -> Void>, fileID: StaticString = #fileID,
        line: Int = #line
    ) -> Bool {
        var newest: Node?
        var count = 0
        for block in blocks {
            let node = SlabCache.takeNode()
            node.kind = .block
            node.store(BlockMessage(body: block, modes: nil, origin: SourceLocation(fileID, line)))
            node.next = newest
            newest = node
            count += 1
        }
        guard let first = newest else { return true }
        if handle.send(Mailbox.Chain(newest: first, count: count), for: "RunLoop.perform") { return true }
        while let node = newest {
            newest = node.next
            discard(node)
        }
        return false
    }

    private func post(_ node: Node) -> Bool {
        if putInLine(node) { return true }
        discard(node)
        return false
    }

    /// Appends a node, which contains a block, to the loop's queue of blocks.
    ///
    /// - Returns: False if the loop has ended. The caller still owns the node then.
    @inline(__always)
    func putInLine(_ node: Node) -> Bool {
        guard let core = coreIfCurrent else {
            return handle.send(Mailbox.Chain(node), for: "RunLoop.perform")
        }
        Fork.check("RunLoop.perform")
        if core.members.hasEnded { return false }
        // On the loop's own thread, the block is appended without an atomic operation. Before that, the loop empties its mailbox,
        // so that blocks that other threads have already sent run first.
        core.takeMail()
        core.blocks.appendHere(node)
        return true
    }

    private func discard(_ node: Node) {
        _ = node.move(BlockMessage.self)
        var releaser = NodeReleaser()
        releaser.release(node)
    }

    /// Performs a block on the loop's thread after a delay.
    ///
    /// The block runs when the delay is over and the loop runs in one of the modes. It never runs during this call, not even if the
    /// delay is zero. Blocks that are due at the same time run in the order of the calls. If the loop's thread has ended, or ends
    /// first, the block is destroyed without having run, and ``DelayedPerform/cancel()`` returns
    /// ``DelayedPerform/Cancellation/loopEnded``.
    ///
    /// - Parameters:
    ///   - delay: The delay; zero or less means the next pass.
    ///   - modes: The modes; at least one mode. ``Mode/common`` stands for all common modes.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: The block.
    /// - Returns: A handle for cancelling the block. Releasing the handle does not cancel the block.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func perform(
        after delay: Duration, inModes modes: [Mode] = [.common], fileID: StaticString = #fileID,
        line: Int = #line, _ block: @escaping @Sendable () -> Void
    ) -> DelayedPerform {
        if modes.isEmpty {
            misuse("RunLoop.perform(after:): no mode, so the block would never run; use [.common]")
        }
        let date = Moment.now().advanced(by: max(delay.nanosecondsRoundedUp, 0))
        let delayed = DelayedPerform(self, modes, block)
        let ticket = DelayedPerform.Ticket(delayed)
        if coreIfCurrent != nil {
            delayed.schedule(at: date, ticket, fileID, line)
        } else {
            perform(inModes: modes, fileID: fileID, line: line) {
                ticket.delayed.schedule(at: date, ticket, fileID, line)
            }
        }
        return delayed
    }
}

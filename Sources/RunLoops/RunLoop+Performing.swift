extension RunLoop {
    /// Has a block run on the loop's thread, in the common modes.
    ///
    /// The loop is woken if it sleeps. Blocks of one thread run in the order in which they were given, each once; a block
    /// that a block gives runs later, not at once. If the loop does not run, or runs in another mode, the
    /// block waits.
    ///
    /// ```swift
    /// worker.perform { cache.removeAll() }
    /// ```
    ///
    /// - Parameters:
    ///   - fileID: Where it was given, for diagnostics.
    ///   - line: Where it was given, for diagnostics.
    ///   - block: What is run.
    /// - Returns: False if the loop's thread has ended: then the block is destroyed at once. A block that waits when
    ///   the thread ends is destroyed without having run.
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

    /// Has a block run on the loop's thread, in one of several modes.
    ///
    /// As ``perform(fileID:line:_:)``. It runs once, whichever of the modes runs first.
    ///
    /// - Parameters:
    ///   - modes: The modes; at least one. ``Mode/common`` stands for all common modes.
    ///   - fileID: Where it was given, for diagnostics.
    ///   - line: Where it was given, for diagnostics.
    ///   - block: What is run.
    /// - Returns: False if the loop's thread has ended: then the block is destroyed at once.
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

    /// Has a block run on the loop's thread, whatever mode it runs in.
    ///
    /// For handing something over: in a mode that knows nothing of it, user code is not to be called.
    ///
    /// - Parameters:
    ///   - fileID: Where it was given, for diagnostics.
    ///   - line: Where it was given, for diagnostics.
    ///   - block: What is run.
    /// - Returns: False if the loop's thread has ended: then the block is destroyed at once.
    @discardableResult
    package func performInEveryMode(
        fileID: StaticString = #fileID, line: Int = #line, _ block: consuming @escaping @Sendable () -> Void
    ) -> Bool {
        perform(consume block, [], fileID, line)
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

    /// Has several blocks run on the loop's thread, in the common modes: cheaper than one by one.
    ///
    /// As ``perform(fileID:line:_:)``; no other thread's block comes between them.
    ///
    /// - Parameters:
    ///   - blocks: What is run, in order.
    ///   - fileID: Where they were given, for diagnostics.
    ///   - line: Where they were given, for diagnostics.
    /// - Returns: False if the loop's thread has ended: then the blocks are destroyed at once.
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

    /// Puts a node in line.
    ///
    /// - Returns: False if the loop has ended; then the node is still the caller's.
    @inline(__always)
    func putInLine(_ node: Node) -> Bool {
        guard let core = coreIfCurrent else {
            return handle.send(Mailbox.Chain(node), for: "RunLoop.perform")
        }
        Fork.check("RunLoop.perform")
        if core.members.hasEnded { return false }
        // The loop's own: no atomic operation. What others have sent before goes first.
        core.takeMail()
        core.blocks.append(node)
        return true
    }

    private func discard(_ node: Node) {
        _ = node.move(BlockMessage.self)
        var releaser = NodeReleaser()
        releaser.release(node)
    }

    /// Has a block run on the loop's thread after a while.
    ///
    /// It runs when its time has come and one of its modes runs; never at once, not even after zero. Blocks of one
    /// date run in the order in which they were given. If the loop's thread has ended, or ends first, it never runs: it
    /// is destroyed then, and the handle says ``DelayedPerform/Cancellation/loopEnded``.
    ///
    /// - Parameters:
    ///   - delay: How long; zero or less means in the next pass.
    ///   - modes: The modes; at least one. ``Mode/common`` stands for all common modes.
    ///   - fileID: Where it was given, for diagnostics.
    ///   - line: Where it was given, for diagnostics.
    ///   - block: What is run.
    /// - Returns: A handle that can cancel it. Dropping the handle does not.
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

extension Port {
    /// Makes a right to send to this port.
    ///
    /// The port itself is the right to receive. Code that has the port can also send, but does not count as a sender. Give send
    /// rights to the senders if the receiver needs to know when no sender is left: ``onNoSenders(_:)``. A right to a port that has
    /// ended is invalid from the start.
    ///
    /// - Returns: A new right.
    ///
    /// > Thread safety: any thread.
    public func makeSendRight() -> SendRight<Message> { SendRight(core) }

    /// Makes a right to send one message to this port.
    ///
    /// - Parameter message: The message that is sent if the right is destroyed unused.
    /// - Returns: The right.
    ///
    /// > Thread safety: any thread.
    @inlinable
    public func makeSendOnceRight(ifUnused message: consuming Message) -> SendOnceRight<Message> {
        SendOnceRight(core, ifUnused: message)
    }

    /// The number of send rights to this port.
    ///
    /// Copies of a right count as one.
    ///
    /// > Thread safety: any thread; the value can change at any moment.
    package var sendRightCount: Int { core.rightsRecord.withLock { $0.rights.sendRights } }

    /// The number of send-once rights that have been neither used nor destroyed.
    ///
    /// > Thread safety: any thread; the value can change at any moment.
    package var sendOnceRightCount: Int { core.rightsRecord.withLock { $0.rights.sendOnceRights } }

    /// Sets the handler that is called when the last send right has been destroyed.
    ///
    /// When the last right is destroyed, the port queues a notice behind all messages that the rights have sent. Like a message,
    /// the notice is served in the modes that the port is in, and then the handler is called. If new rights exist when the notice
    /// is served, the notice is stale, and the handler is not called. Once the new rights are destroyed, the port queues a new
    /// notice. So the handler is called once for each period without rights, unless the period ends before the notice is served.
    /// If you set the handler during such a period, and no handler was called for this period yet, the handler is called soon.
    /// Before the first right is made, there is no notice.
    ///
    /// Setting a handler replaces the previous one. When the port leaves its loop, the loop releases the handler. If the last
    /// right is destroyed while the port is in no loop, the next handler that is set gets the notice.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with the port.
    /// - Precondition: The port was added to this thread's loop. If the port or the loop has ended, the handler is released, and
    ///   the call does nothing else.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onNoSenders(_ handler: @escaping (Port) -> Void) {
        // The loop holds the port as long as it holds this handler.
        core.onNoSenders { [unowned self] in handler(self) }
    }

    /// Adds a handler that this thread's loop calls when the port has ended.
    ///
    /// The handler is called exactly once, in the common modes, after the port's end, and never during ``invalidate()``. If the
    /// port has ended already, the handler is called soon. If the loop ends first, it destroys the handler on its thread, without
    /// calling it. Several handlers of one loop are called in the order in which they were added.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler.
    ///
    /// > Thread safety: any thread; the handler is called on this thread. Not in asynchronous code, where the thread can change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func addInvalidationHandler(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        core.addInvalidationHandler(LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension Port where Message == Void {
    /// Makes a right to send one signal to this port; destroying the unused right sends the signal, too.
    ///
    /// - Returns: The right.
    ///
    /// > Thread safety: any thread.
    public func makeSendOnceRight() -> SendOnceRight<Void> { makeSendOnceRight(ifUnused: ()) }
}

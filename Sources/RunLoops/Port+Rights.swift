extension Port {
    /// Makes a right to send to this port.
    ///
    /// The port itself is the right to receive; whoever has it can also send, and is not counted. Give rights to those
    /// whose end the receiver wants to hear of: ``onNoSenders(_:)``. A right to a port that has ended is invalid
    /// from the start.
    ///
    /// - Returns: The right, one more.
    ///
    /// > Thread safety: any thread.
    public func makeSendRight() -> SendRight<Message> { SendRight(core) }

    /// Makes a right to send one message to this port.
    ///
    /// - Parameter message: What is sent if the right is destroyed unused.
    /// - Returns: The right.
    ///
    /// > Thread safety: any thread.
    @inlinable
    public func makeSendOnceRight(ifUnused message: consuming Message) -> SendOnceRight<Message> {
        SendOnceRight(core, ifUnused: message)
    }

    /// How many send rights there are.
    ///
    /// Copies of one are not counted.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var sendRightCount: Int { core.rightsRecord.withLock { $0.rights.sendRights } }

    /// How many send-once rights have been neither used nor destroyed.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var sendOnceRightCount: Int { core.rightsRecord.withLock { $0.rights.sendOnceRights } }

    /// Has a handler called when the last send right has gone.
    ///
    /// The notice stands in the port's queue behind all that the rights have sent, and is served as the messages are, in
    /// the modes that the port is in. When it is served and rights have been made meanwhile, it is stale, and no
    /// handler is called; when they have gone, too, there is a new notice. So the handler is called once for each time
    /// that there are no rights any more, and not for a time that was over before. If that is so already and
    /// nobody has been told, the handler is called soon. Before the first right is made there is nothing to tell.
    ///
    /// Asking again replaces the handler. When the port leaves its loop, the loop lets go of the handler; what
    /// comes about while the port is in no loop is told to whoever asks next.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in.
    /// - Precondition: The port is in this thread's loop: it was added before. For a port that has ended, and in a loop that
    ///   has, nothing happens, and the handler is let go of.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onNoSenders(_ handler: @escaping () -> Void) { core.onNoSenders(handler) }

    /// Has a handler called on this thread's loop when the port has ended.
    ///
    /// It is called exactly once, in the common modes, after the port's end, never during ``invalidate()``; soon, if the port
    /// has ended already. If the loop ends first, the handler is destroyed with it, on its thread, without having been
    /// called. Several handlers of one loop are called in the order in which they were given.
    ///
    /// - Parameters:
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    ///   - handler: What is called, once.
    ///
    /// > Thread safety: any thread; the handler is called on this one. Not in asynchronous code, where the thread may
    /// > change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func onInvalidation(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        core.onInvalidation(EndWatcher(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension Port where Message == Void {
    /// Makes a right to send one signal to this port, which is sent also if the right is destroyed unused.
    ///
    /// - Returns: The right.
    ///
    /// > Thread safety: any thread.
    public func makeSendOnceRight() -> SendOnceRight<Void> { makeSendOnceRight(ifUnused: ()) }
}

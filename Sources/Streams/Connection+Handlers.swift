internal import RunLoops

extension Connection {
    /// Sets the handler of received bytes.
    ///
    /// It gets all bytes that no call has consumed, and returns how many it has consumed. The others come again, followed by
    /// new bytes, when more have arrived. If ``Options/inputLimit`` bytes or more are left, the connection ends with
    /// ``EndReason/inputLimit(_:)``. Returning a negative number, or more than the number of bytes, ends the program with a
    /// message. While no handler is set, nothing is received: the peer has to wait, and only the end of its stream is noticed,
    /// if nothing was sent before it.
    ///
    /// - Parameter handler: Called with the connection and the bytes, which live until it returns. It replaces the handler of
    ///   frames. Bytes that were received before and not consumed are given to it.
    public func onReceive(_ handler: @escaping (Connection, RawSpan) -> Int) {
        setReceiver("Connection.onReceive", .bytes(handler), framing: nil)
    }

    /// Sets the handler of received frames.
    ///
    /// A handler may set another one: it gets what follows the frame that is being handled.
    ///
    /// - Parameters:
    ///   - framing: The way in which the bytes are cut into frames.
    ///   - handler: Called with the connection and the bytes of one frame, which live until it returns. It replaces the handler
    ///     of received bytes.
    public func onFrame(_ framing: Framing, _ handler: @escaping (Connection, RawSpan) -> Void) {
        setReceiver("Connection.onFrame", .frames(handler), framing: framing)
    }

    private func setReceiver(_ member: StaticString, _ receiver: Receiver, framing: Framing?) {
        requireOwnThread(member)
        if !isOpen { return }
        // A task that reads sees that it does not any more.
        wakeReader()
        handlers.receiver = receiver
        state.receiverVersion &+= 1
        state.scanner = framing.map { FrameScanner($0) }
        receiverDidChange()
    }

    /// Sets the handler that is called when the connection is made.
    ///
    /// A connection that was accepted, or made of a socket, is made already: the handler is not called.
    ///
    /// - Parameter handler: Called once.
    public func onConnect(_ handler: @escaping (Connection) -> Void) {
        requireOwnThread("Connection.onConnect")
        if isOpen { handlers.connected = handler }
    }

    /// Sets the handler that is called when the peer has ended its stream, after all that it has sent was handled.
    ///
    /// With this handler the connection stays open for writing, and ends when your code has ended the output, too. Without it,
    /// the connection sends what was written, and ends with ``EndReason/peerClosed``.
    ///
    /// - Parameter handler: Called at most once.
    public func onInputEnd(_ handler: @escaping (Connection) -> Void) {
        requireOwnThread("Connection.onInputEnd")
        if !isOpen { return }
        handlers.inputEnded = handler
        state.machine.handlesInputEnd = true
    }

    /// Sets the handler that is called when a writer may go on.
    ///
    /// That is when the unsent bytes had exceeded ``Options/highWaterMark``, and have fallen to half of it.
    ///
    /// - Parameter handler: Called each time.
    public func onDrained(_ handler: @escaping (Connection) -> Void) {
        requireOwnThread("Connection.onDrained")
        if isOpen { handlers.drained = handler }
    }

    /// Sets the handler of the end of the connection.
    ///
    /// It is called once, after all other handlers, with the reason. The socket is closed by then. It is not called if the
    /// connection was in no loop before it ended.
    ///
    /// - Parameter handler: Called once, from the loop: never inside a call of yours.
    public func onEnd(_ handler: @escaping (Connection, EndReason) -> Void) {
        requireOwnThread("Connection.onEnd")
        if !state.machine.isOver { handlers.ended = handler }
    }

    /// Ends the program unless the calling thread is that of the connection's loop.
    func requireOwnThread(_ member: StaticString) {
        streams?.loop.requireOwnThread(
            member, "perform a block on the loop of the connection and call it there")
    }
}

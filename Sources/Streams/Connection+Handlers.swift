internal import RunLoops

extension Connection {
    /// Sets the handler of received bytes.
    ///
    /// The handler gets all received bytes that are not consumed yet, and returns the number of bytes that it consumes. When new
    /// bytes have arrived, the handler gets the unconsumed bytes again, followed by the new bytes. If ``Options/inputLimit`` bytes
    /// or more are left unconsumed, the connection ends with ``Limit/input(_:)``. Returning a negative number, or more
    /// than the number of bytes given, ends the program with a message.
    ///
    /// While no handler is set, the connection receives nothing, and the peer has to wait. During that time, the connection notices
    /// the end of the peer's stream only if no unread bytes precede the end.
    ///
    /// - Parameter handler: Called with the connection and the bytes, which are valid until the handler returns. It replaces
    ///   the handler of frames, and also gets bytes that were received before and not consumed.
    public func onReceive(_ handler: @escaping (Connection, RawSpan) -> Int) {
        setReceiver("Connection.onReceive", .bytes(handler), framing: nil)
    }

    /// Sets the handler of received frames.
    ///
    /// A handler of frames may set another handler, which then gets the bytes that follow the current frame.
    ///
    /// - Parameters:
    ///   - framing: The way in which the received bytes are cut into frames.
    ///   - handler: Called with the connection and the bytes of one frame, which are valid until the handler returns. It replaces
    ///     the handler of received bytes.
    public func onFrame(_ framing: Framing, _ handler: @escaping (Connection, RawSpan) -> Void) {
        setReceiver("Connection.onFrame", .frames(handler), framing: framing)
    }

    private func setReceiver(_ member: StaticString, _ receiver: Receiver, framing: Framing?) {
        requireOwnThread(member)
        if !isOpen { return }
        // This wakes a task that was reading. The task then finds that another receiver has replaced it.
        wakeReader()
        var replaced = receiver
        swap(&replaced, &handlers.receiver)
        state.receiverVersion &+= 1
        state.scanner = framing.map { FrameScanner($0) }
        receiverDidChange()
        // The replaced receiver is released last, because destroying an object that it holds can call the connection.
        withExtendedLifetime(replaced) {}
    }

    /// Sets the handler that is called when the connection is made.
    ///
    /// With TLS, the connection is made when the hand-shake is complete. Without TLS, the handler is not called for a connection
    /// that was created from an accepted or connected socket.
    ///
    /// - Parameter handler: Called once.
    public func onConnect(_ handler: @escaping (Connection) -> Void) {
        requireOwnThread("Connection.onConnect")
        if isOpen { handlers.connected.replace(with: handler) }
    }

    /// Sets the handler that is called when the peer has ended its stream and all bytes of that stream have been handled.
    ///
    /// If this handler is set, the connection stays open for writing, and ends when your code has ended the output, too. Otherwise
    /// the connection sends the written bytes, and ends with ``EndReason/peerClosed``.
    ///
    /// - Parameter handler: Called at most once.
    public func onInputEnd(_ handler: @escaping (Connection) -> Void) {
        requireOwnThread("Connection.onInputEnd")
        if !isOpen { return }
        handlers.inputEnded.replace(with: handler)
        state.machine.onInputEnd = .notice
    }

    /// Sets the handler that is called when your code may write again.
    ///
    /// When the number of unsent bytes exceeds ``Options/highWaterMark``, your code should stop writing. When the number has then
    /// fallen to half of the mark, the handler is called.
    ///
    /// - Parameter handler: Called each time that this happens.
    public func onDrained(_ handler: @escaping (Connection) -> Void) {
        requireOwnThread("Connection.onDrained")
        if isOpen { handlers.drained.replace(with: handler) }
    }

    /// Sets the handler of the end of the connection.
    ///
    /// The handler is called once, after all other handlers, with the reason. The socket is already closed by then. The handler
    /// is not called if the connection was never added to a loop.
    ///
    /// - Parameter handler: Called once by the loop, never during a call that you make to the connection.
    public func onEnd(_ handler: @escaping (Connection, EndReason) -> Void) {
        requireOwnThread("Connection.onEnd")
        if !state.machine.isOver { handlers.ended.replace(with: handler) }
    }

    /// Ends the program if the connection belongs to a loop and the calling thread is not that loop's thread.
    func requireOwnThread(_ member: StaticString) {
        streams?.loop.requireOwnThread(
            member, "perform a block on the loop of the connection and call it there")
    }
}

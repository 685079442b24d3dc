internal import RunLoops

// What the modules above use that hand a connection on after they have used it themselves.

extension Connection {
    /// Sets the function that is told each time that the kernel has accepted bytes.
    ///
    /// The function is called in the middle of the connection's work. It must not call the connection, nor code of the program.
    ///
    /// - Parameter body: Called with the connection.
    package func onSent(_ body: @escaping (Connection) -> Void) {
        if isOpen { handlers.sent = body }
    }

    /// The maximum number of bytes that the connection receives at a time, so that a slow consumer stores no more.
    package var readSize: Int {
        get { state.readSize }
        set { state.readSize = max(1, newValue) }
    }

    /// True if bytes, or the end of the peer's stream, wait to be received.
    package var hasUnreadInput: Bool { isOpen && state.socket.hasInput }

    /// Makes a connection as it was when it was made, so that other code can use it: with no handler, in no mode, with other limits.
    ///
    /// It no longer counts towards the limits of its listener. Do not call this in a handler of the connection.
    ///
    /// - Parameters:
    ///   - bytes: Bytes that were received and not used. The next handler gets them first.
    ///   - options: The limits.
    package func renew(withInput bytes: [UInt8], options: Options) {
        if !isOpen { return }
        let released = exchange(&handlers, with: Handlers())
        state.receiverVersion &+= 1
        state.readSize = LoopStreams.bufferSize
        state.machine.resume()
        state.machine.forgetInputEnd()
        // Safe: a byte has no padding.
        state.input.append(unsafe bytes.span.bytes)
        state.options = options
        places.leaveAll(watchedDescriptor)
        if let timer, let streams { for mode in Set(modes) { streams.loop.remove(timer, forMode: mode) } }
        timer?.invalidate()
        timer = nil
        state.deadlines.timerMoment = .never
        admission?.giveBack()
        admission = nil
        withExtendedLifetime(released) {}
    }
}

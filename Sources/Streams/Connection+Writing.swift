internal import RunLoops

extension Connection {
    /// Writes bytes.
    ///
    /// They are sent behind all that was written before: when the connection's own handlers have returned, or at the end of the
    /// pass. This never waits.
    ///
    /// The unsent bytes are bounded: if there are ``Options/outputLimit`` of them already, the connection ends with
    /// ``EndReason/outputLimit(_:)`` instead.
    ///
    /// - Parameter bytes: The bytes; a large array is kept, not copied.
    /// - Returns: False once the unsent bytes have exceeded ``Options/highWaterMark``, and until they have fallen to half of it:
    ///   write no more until ``onDrained(_:)`` is called. Bytes of this pass count as unsent. Also false if the output has ended:
    ///   the bytes are discarded.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(bytes)
        return didWrite()
    }

    /// Writes bytes, which are copied.
    ///
    /// As ``write(_:)-([UInt8])``.
    ///
    /// - Parameter bytes: The bytes, such as those that a handler was given.
    /// - Returns: False if a writer should wait, or the bytes were discarded.
    @discardableResult
    public func write(_ bytes: RawSpan) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(bytes)
        return didWrite()
    }

    /// Writes a text of the program, in UTF-8.
    ///
    /// As ``write(_:)-([UInt8])``.
    ///
    /// - Parameter text: The text.
    /// - Returns: False if a writer should wait, or the text was discarded.
    @discardableResult
    public func write(_ text: StaticString) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(text)
        return didWrite()
    }

    /// Writes a text, in UTF-8.
    ///
    /// As ``write(_:)-([UInt8])``.
    ///
    /// - Parameter text: The text.
    /// - Returns: False if a writer should wait, or the text was discarded.
    @discardableResult @_disfavoredOverload
    public func write(_ text: some StringProtocol) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(text)
        return didWrite()
    }

    private func mayWrite() -> Bool {
        requireOwnThread("Connection.write")
        guard state.machine.takesOutput else { return false }
        if state.output.count < options.outputLimit || state.output.isEmpty { return true }
        // Bytes of this pass have not been offered to the kernel.
        sendNow()
        guard state.machine.takesOutput else {
            settleLater()
            return false
        }
        if state.output.count < options.outputLimit { return true }
        end(.outputLimit(options.outputLimit))
        return false
    }

    private func didWrite() -> Bool {
        settleLater()
        if state.output.count > options.highWaterMark { state.isAboveMark = true }
        return !state.isAboveMark
    }

    /// Ends the output: the peer reads the end of the stream after what was written.
    ///
    /// Input still comes. When the peer has ended its stream, too, the connection ends with ``EndReason/peerClosed``.
    public func endOutput() {
        requireOwnThread("Connection.endOutput")
        state.machine.endOutput()
        settleLater()
    }

    /// Closes the connection after all that was written has been sent.
    ///
    /// From now on no handler but ``onEnd(_:)`` is called: with ``EndReason/closed``, or with another reason if the connection
    /// fails or times out before all is sent. The connection waits for the peer to close, too, for ``Options/lingerTimeout``,
    /// and discards what comes meanwhile.
    public func closeAfterWriting() {
        requireOwnThread("Connection.closeAfterWriting")
        state.machine.close(afterWriting: .closed)
        settleLater()
    }

    /// Closes the connection at once; unsent bytes are discarded.
    ///
    /// The socket is closed when this returns. No handler but ``onEnd(_:)`` is called any more, with ``EndReason/closed``.
    public func close() {
        requireOwnThread("Connection.close")
        end(.closed)
    }

    /// Resets the connection at once; unsent bytes are discarded, also those that the kernel has taken.
    ///
    /// The peer gets an error instead of the end of the stream, so it does not take what it has received for the whole. Over a
    /// Unix socket it is the end of the stream. Otherwise as ``close()``.
    public func reset() {
        requireOwnThread("Connection.reset")
        state.socket.resetWhenClosed()
        end(.closed)
    }

    /// Stops receiving: the peer has to wait when the kernel's buffers are full.
    ///
    /// Frames that were received already wait, too.
    public func pauseReading() {
        requireOwnThread("Connection.pauseReading")
        state.machine.pause()
        settleLater()
    }

    /// Goes on receiving after ``pauseReading()``.
    public func resumeReading() {
        requireOwnThread("Connection.resumeReading")
        if !state.machine.isPaused { return }
        state.machine.resume()
        receiverDidChange()
    }

    /// True after ``pauseReading()``.
    public var isReadingPaused: Bool { state.machine.isPaused }
}

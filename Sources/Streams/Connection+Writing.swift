internal import RunLoops
internal import Synchronization

extension Connection {
    /// Writes bytes.
    ///
    /// The bytes are sent after all bytes that were written before. Bytes that the connection's own handlers write are sent when
    /// the handlers have returned. Other bytes are sent at the end of the loop's pass. This call never waits.
    ///
    /// The unsent bytes are limited. If there are ``Options/outputLimit`` unsent bytes or more, this call first offers the unsent
    /// bytes to the kernel. If the limit is still reached after that, the connection ends with ``Limit/output(_:)``, and
    /// the new bytes are discarded.
    ///
    /// - Parameter bytes: The bytes. An array of 1,024 bytes or more is retained, not copied.
    /// - Returns: False if the unsent bytes have exceeded ``Options/highWaterMark`` and have not fallen to half of it since. In
    ///   that case, write no more until the handler of ``onDrained(_:)`` is called. Bytes that were written in the current handler
    ///   or pass count as unsent. Also false if the output has ended; the bytes are then discarded.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(bytes)
        return didWrite()
    }

    /// Writes bytes, which are copied.
    ///
    /// Apart from the type of its parameter, this method behaves like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter bytes: The bytes, such as those that a handler was given.
    /// - Returns: False if your code should wait before it writes more, or if the bytes were discarded.
    @discardableResult
    public func write(_ bytes: RawSpan) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(bytes)
        return didWrite()
    }

    /// Writes a string literal, in UTF-8.
    ///
    /// Apart from the type of its parameter, this method behaves like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter text: The text.
    /// - Returns: False if your code should wait before it writes more, or if the text was discarded.
    @discardableResult
    public func write(_ text: StaticString) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(text)
        return didWrite()
    }

    /// Writes a string, in UTF-8.
    ///
    /// Apart from the type of its parameter, this method behaves like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter text: The text.
    /// - Returns: False if your code should wait before it writes more, or if the text was discarded.
    @discardableResult @_disfavoredOverload
    public func write(_ text: some StringProtocol) -> Bool {
        guard mayWrite() else { return false }
        state.output.append(text)
        return didWrite()
    }

    private func mayWrite() -> Bool {
        requireOwnThread("Connection.write")
        guard state.machine.takesOutput else { return false }
        if state.output.count < state.options.outputLimit || state.output.isEmpty { return true }
        // Bytes that were written in this pass have not been offered to the kernel yet, so they are offered now.
        sendNow()
        guard state.machine.takesOutput else {
            settleLater()
            return false
        }
        if state.output.count < state.options.outputLimit { return true }
        end(.limit(.output(state.options.outputLimit)))
        return false
    }

    private func didWrite() -> Bool {
        settleLater()
        if state.output.count > state.options.highWaterMark { state.output.isAboveMark = true }
        return !state.output.isAboveMark
    }

    /// Ends the output, so that the peer gets the end of the stream after all written bytes.
    ///
    /// The connection still receives. When the peer has ended its stream, too, the connection ends with ``EndReason/peerClosed``.
    public func endOutput() {
        requireOwnThread("Connection.endOutput")
        state.machine.endOutput()
        settleLater()
    }

    /// Closes the connection after all written bytes have been sent.
    ///
    /// After this call, only the handler of ``onEnd(_:)`` is called: with ``EndReason/closed``, or with another reason if the
    /// connection fails, times out or loses its loop before everything is sent. When everything is sent, the connection waits at
    /// most ``Options/lingerTimeout`` for the peer to close its side. It discards all bytes that it receives in the meantime.
    public func closeAfterWriting() {
        requireOwnThread("Connection.closeAfterWriting")
        state.machine.close(afterWriting: .closed)
        settleLater()
    }

    /// Closes the connection immediately, and discards unsent bytes.
    ///
    /// The socket is closed when this call returns. After that, only the handler of ``onEnd(_:)`` is called, with
    /// ``EndReason/closed``.
    ///
    /// On another thread than the loop's, no handler but that one is called when this call has returned, and the loop closes the
    /// socket in its next pass.
    ///
    /// > Thread safety: any thread.
    public func close() { endAnywhere() }

    /// Resets the connection immediately, and discards unsent bytes, even those that the kernel has accepted.
    ///
    /// Over TCP, the peer gets an error instead of the end of the stream, so it does not mistake the bytes that it has received for
    /// the complete stream. Over a Unix socket, the peer gets the end of the stream. Apart from that, this method behaves like
    /// ``close()``.
    ///
    /// > Thread safety: any thread.
    public func reset() {
        resetsAtEnd.store(true, ordering: .relaxed)
        endAnywhere()
    }

    /// True while the connection does not receive; false by default.
    ///
    /// Once the kernel's buffers are full, the peer has to wait. Frames that were received but not handled also wait.
    public var isReadingPaused: Bool {
        get { state.machine.isPaused }
        set {
            requireOwnThread("Connection.isReadingPaused")
            if newValue {
                state.machine.pause()
                settleLater()
            } else if state.machine.isPaused {
                state.machine.resume()
                receiverDidChange()
            }
        }
    }
}

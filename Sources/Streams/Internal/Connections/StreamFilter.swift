/// A layer between the bytes of a connection and those of its socket, such as TLS.
///
/// Modules above this one conform to this protocol. The connection calls the filter as it would call the kernel: no call waits, and
/// the filter never calls the connection. The connection owns the socket, and watches it.
///
/// > Thread safety: the thread of the connection only.
package protocol StreamFilter: AnyObject {
    /// Called once, with the connected, non-blocking socket.
    func begin(on descriptor: CInt)

    /// Continues the opening exchange with the peer, such as a hand-shake, which precedes the connection's bytes.
    func open() -> StreamOpening

    /// Receives bytes for the connection.
    ///
    /// Fills the buffer as far as the received bytes allow.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> StreamReceipt

    /// True if ``receive(into:)`` has more bytes to return, even if none have arrived in the kernel.
    var holdsInput: Bool { get }

    /// Takes bytes of the connection for sending.
    ///
    /// - Returns: The number of bytes taken. It is smaller than the number given if enough bytes already wait for ``flush()``.
    func take(_ bytes: UnsafeRawBufferPointer) -> Int

    /// True if bytes wait for ``flush()``.
    var holdsOutput: Bool { get }

    /// Offers the waiting bytes to the kernel.
    func flush() -> StreamSending

    /// Ends the stream to the peer, after the waiting bytes.
    func endOutput()

    /// Called once, before the socket is closed.
    ///
    /// - Parameter isComplete: True if the peer is to treat the bytes that it has received as the complete stream.
    func close(isComplete: Bool)
}

/// The state of the opening exchange, which precedes a connection's bytes.
package enum StreamOpening {
    case opened
    /// The exchange continues when the socket is readable; if `isBlocked` is true, also when it is writable.
    case waits(isBlocked: Bool)
    case failed(Connection.EndReason)
}

/// The result of receiving.
package enum StreamReceipt {
    case bytes(Int)
    /// The peer has ended its stream.
    case end
    /// No byte has arrived.
    case nothing
    case failed(Connection.EndReason)
}

/// The result of sending.
package enum StreamSending {
    /// The kernel or the filter has accepted this number of the connection's bytes, and may accept more.
    case bytes(Int)
    /// The kernel accepts no more bytes for now.
    case blocked
    case failed(Connection.EndReason)
}

extension Connection {
    /// Puts a filter between this connection and its socket, before the connection is added to a loop.
    package func insert(_ filter: any StreamFilter) {
        precondition(streams == nil, "a filter is inserted before the connection is added to a loop")
        state.machine = ConnectionMachine(isConnected: false)
        state.socket.insert(filter)
    }

    /// The filter; nil if there is none.
    package var filter: (any StreamFilter)? { state.socket.filter }
}

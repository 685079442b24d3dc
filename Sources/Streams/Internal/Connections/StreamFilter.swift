/// A layer that transforms the bytes between a connection and its socket, such as TLS.
///
/// Types in other modules of the package conform to this protocol. The connection calls the filter as it would call the kernel: no
/// call waits, and the filter never calls the connection. The connection owns the socket, and watches it.
///
/// > Thread safety: the thread of the connection only.
package protocol StreamFilter: AnyObject {
    /// Gives the filter the connected, non-blocking socket; called once.
    func begin(on descriptor: CInt)

    /// Begins or continues the opening exchange with the peer, such as a hand-shake.
    ///
    /// The exchange precedes the connection's bytes.
    func open() -> StreamOpening

    /// Receives bytes for the connection.
    ///
    /// The method fills as much of the buffer as the received bytes allow.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> StreamReceipt

    /// True if the filter holds bytes that ``receive(into:)`` can return without new bytes from the kernel.
    var holdsInput: Bool { get }

    /// Takes bytes that the connection wants to send.
    ///
    /// - Returns: The number of bytes that the filter has taken. If enough bytes already wait for ``flush()``, the filter does not
    ///   take all bytes.
    func take(_ bytes: UnsafeRawBufferPointer) -> Int

    /// True if the filter has taken bytes that ``flush()`` has not sent yet.
    var holdsOutput: Bool { get }

    /// The number of the filter's own bytes, such as encrypted ones, that the kernel has accepted so far.
    var flushedCount: Int { get }

    /// The number of the filter's own bytes that wait for ``flush()``.
    var heldCount: Int { get }

    /// The protocol that the opening exchange has chosen for the connection's bytes, such as `h2`; nil if it has chosen none.
    var applicationProtocol: String? { get }

    /// Sends the waiting bytes, as many as the kernel accepts.
    func flush() -> StreamSending

    /// Ends the stream to the peer once the waiting bytes are sent.
    func endOutput()

    /// Ends the filter's work, before the socket is closed; called once.
    ///
    /// - Parameter isComplete: True if the peer should treat the bytes that it has received as the complete stream.
    func close(isComplete: Bool)
}

/// The state of the opening exchange, which precedes a connection's bytes.
package enum StreamOpening {
    case opened
    /// The exchange is not complete.
    ///
    /// The exchange continues when the socket is readable. If `isBlocked` is true, it also continues when the socket is writable.
    case waits(isBlocked: Bool)
    case failed(Connection.EndReason)
}

/// The result of a call that receives bytes.
package enum StreamReceipt {
    case bytes(Int)
    /// The peer has ended its stream.
    case end
    /// No byte has arrived.
    case nothing
    case failed(Connection.EndReason)
}

/// The result of a call that sends bytes.
package enum StreamSending {
    /// The kernel or the filter has accepted bytes of the connection; the value is their number.
    ///
    /// An immediate second call can possibly send more bytes.
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

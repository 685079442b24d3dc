/// An object in another module of the package that receives and sends the bytes of a connection itself, when it is its turn.
///
/// The connection keeps its socket, its filter, its modes, its time-outs, and its place in the limits of its listener. Only the bytes
/// and the order of events are the driver's. The connection calls the methods while it is being served. They only take notes: no
/// code of a user runs inside them, and they do not call the connection.
///
/// > Thread safety: the thread of the connection's loop only.
package protocol StreamDriver: AnyObject {
    /// True if the driver waits for bytes, so that bytes that have arrived end the idle time of the connection.
    var wantsInput: Bool { get }

    /// True if the driver has bytes that the kernel has not accepted; the stream is incomplete without them.
    var hasUnsent: Bool { get }

    /// Called once when a connection is made that was not made when the driver took it over.
    func connectionIsMade()

    /// Called when the kernel has reported new readiness of the connection, once for each change.
    func connectionIsReady(_ readiness: StreamReadiness)

    /// Called once when the connection has ended, but for an end that the driver has made. The socket is closed.
    func connectionHasEnded(_ reason: Connection.EndReason)
}

/// What the kernel has reported about the socket of a connection.
package struct StreamReadiness: OptionSet {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes have arrived.
    package static var bytes: StreamReadiness { StreamReadiness(rawValue: 1) }
    /// The peer has ended its stream, or the connection has failed: behind the bytes is the end, or an error.
    package static var end: StreamReadiness { StreamReadiness(rawValue: 2) }
    /// The kernel accepts bytes again.
    package static var space: StreamReadiness { StreamReadiness(rawValue: 4) }
    /// The connection has failed.
    package static var error: StreamReadiness { StreamReadiness(rawValue: 8) }
}

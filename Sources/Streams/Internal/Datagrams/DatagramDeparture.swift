package import RunLoops

/// What becomes of the first datagrams that a socket has been given and the kernel has not accepted yet.
package enum DatagramDeparture: Sendable {
    /// The kernel has accepted this many.
    case accepted(Int)
    /// The kernel has refused the first one, which is discarded.
    case refused(SystemError)
}

extension DatagramSocket {
    /// Sets the function that is told, in their order, what becomes of all datagrams that the socket is given.
    ///
    /// The handler of ``onUndelivered(_:)`` then gets only the errors that the network reports later. Nothing is told of datagrams that
    /// wait when the socket ends.
    ///
    /// - Parameter handler: Called inside ``flush()``, so it must not use the socket.
    package func onDeparture(_ handler: @escaping (DatagramDeparture) -> Void) {
        requireOwnThread("DatagramSocket.onDeparture")
        if isOpen { handlers.departed.replace(with: handler) }
    }

    /// The descriptor, for the options of a channel; nil once the socket is closed.
    package var optionsDescriptor: CInt? { descriptor }
}

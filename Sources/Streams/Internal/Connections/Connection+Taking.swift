package import RunLoops

extension Connection {
    /// Takes the socket out of a connection that is made, and ends the connection.
    ///
    /// The peer notices nothing, and bytes that were not received yet stay in the socket. The handler of `onEnd` is called as after
    /// `close()`.
    ///
    /// - Returns: The socket, which is non-blocking; nil if the connection is not made, or has ended.
    /// - Precondition: There is no filter between the connection and its socket.
    package func takeSocket() -> OwnedDescriptor? {
        precondition(filter == nil, "a filter has bytes of its own, which would be lost")
        guard isConnected else { return nil }
        places.leaveAll(state.socket.descriptor)
        let socket = state.socket.take()
        close()
        return socket
    }
}

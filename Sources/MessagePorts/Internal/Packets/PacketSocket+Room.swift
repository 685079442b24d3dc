internal import RunLoops

extension PacketSocket {
    /// Enlarges the socket's send buffer if it is too small for a packet with a body of this length.
    ///
    /// The buffer grows as far as the system allows. By default, it has room for many small packets, and the default is kept until
    /// a packet needs more. Limits that the other end states have no effect on the buffer. Otherwise the other end would
    /// choose how much of the kernel's memory this process uses.
    borrowing func ensureRoom(forBodiesOf length: Int) throws(SystemError) {
        let packet = Frame.headLength + length
        if try mostBytes < packet { try makeRoom(forPacketsOf: packet) }
    }

    /// Throws if no packet can have a body of this length, even with the largest send buffer that the system allows.
    static func checkRoom(forBodiesOf length: Int) throws {
        let pair = try PacketSocket.pair()
        try pair.near.ensureRoom(forBodiesOf: length)
        let most = try pair.near.mostBytes - Frame.headLength
        if most < length { throw MessagePortError.tooLarge(limit: most) }
    }

    /// Sends a frame with its body as one packet, without blocking, and enlarges the send buffer if the packet needs that.
    ///
    /// Parameters and result are those of ``send(_:body:descriptors:)``.
    borrowing func sendMakingRoom(_ frame: Frame, body: RawSpan, descriptors: [CInt]) -> Sent {
        let sent = send(frame, body: body, descriptors: descriptors)
        guard case .tooLarge = sent else { return sent }
        do { try ensureRoom(forBodiesOf: body.byteCount) } catch { return .failed(error) }
        return send(frame, body: body, descriptors: descriptors)
    }
}

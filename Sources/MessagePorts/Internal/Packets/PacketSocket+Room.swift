internal import RunLoops

extension PacketSocket {
    /// Makes sure that a packet with a body of this length can be sent, if the system allows that.
    ///
    /// If the kernel's default has room for the packet, the default is kept: it has room for many small packets. More room is asked
    /// for only when a packet needs it, whatever limits the other end states. Otherwise the other end would choose how much of the
    /// kernel's memory this process uses.
    borrowing func ensureRoom(forBodiesOf length: Int) throws(SystemError) {
        let packet = Frame.headLength + length
        if try mostBytes < packet { try makeRoom(forPacketsOf: packet) }
    }

    /// Throws if no packet can have a body of this length, however much room is asked for.
    static func checkRoom(forBodiesOf length: Int) throws {
        let pair = try PacketSocket.pair()
        try pair.near.ensureRoom(forBodiesOf: length)
        let most = try pair.near.mostBytes - Frame.headLength
        if most < length { throw MessagePortError.tooLarge(limit: most) }
    }

    /// Sends a frame with its body as one packet, without blocking, and asks for the room that the packet needs.
    ///
    /// Parameters and result are those of ``send(_:body:descriptors:)``.
    borrowing func sendMakingRoom(_ frame: Frame, body: RawSpan, descriptors: [CInt]) -> Sent {
        let sent = send(frame, body: body, descriptors: descriptors)
        guard case .tooLarge = sent else { return sent }
        do { try ensureRoom(forBodiesOf: body.byteCount) } catch { return .failed(error) }
        return send(frame, body: body, descriptors: descriptors)
    }
}

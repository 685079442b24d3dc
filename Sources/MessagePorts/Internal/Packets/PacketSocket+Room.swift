internal import RunLoops

extension PacketSocket {
    /// Sees to it that a packet with a body of so many bytes can be sent, where the system allows that.
    ///
    /// What the kernel gives anyhow is left as it is: it has room for many small packets. What the other end says that it
    /// takes is no reason to ask for more, or it would choose how much of the kernel's memory this process uses. Only a packet
    /// that is to be sent is.
    borrowing func ensureRoom(forBodiesOf length: Int) throws(SystemError) {
        let packet = Frame.headLength + length
        if try mostBytes < packet { try makeRoom(forPacketsOf: packet) }
    }

    /// Throws if no packet has room for a body of so many bytes, however much is asked for.
    static func checkRoom(forBodiesOf length: Int) throws {
        let pair = try PacketSocket.pair()
        try pair.near.ensureRoom(forBodiesOf: length)
        let most = try pair.near.mostBytes - Frame.headLength
        if most < length { throw MessagePortError.tooLarge(limit: most) }
    }

    /// Sends a frame with its body as one packet, without waiting, and asks for the room that it needs.
    ///
    /// As ``send(_:body:descriptors:)``.
    borrowing func sendMakingRoom(_ frame: Frame, body: RawSpan, descriptors: [CInt]) -> Sent {
        let sent = send(frame, body: body, descriptors: descriptors)
        guard case .tooLarge = sent else { return sent }
        do { try ensureRoom(forBodiesOf: body.byteCount) } catch { return .failed(error) }
        return send(frame, body: body, descriptors: descriptors)
    }
}

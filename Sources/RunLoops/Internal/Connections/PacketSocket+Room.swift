extension PacketSocket {
    /// Sees to it that a packet with a body of so many bytes can be sent, where the system allows that.
    ///
    /// What the kernel gives anyhow is left as it is: it has room for many small packets.
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
}

/// The head of every packet between two processes.
///
/// The head is little-endian, has a fixed size, and precedes the body. If any of its fields is wrong, the packet is malformed, and
/// the connection to its sender ends.
///
/// | Bytes | Field |
/// |---|---|
/// | 0–1 | `RL` |
/// | 2 | version |
/// | 3 | kind |
/// | 4–7 | the ID that the program gives the message; for other kinds, see ``id`` |
/// | 8–15 | the number of the request that the packet makes or answers; for other kinds, see ``number`` |
/// | 16–19 | length of the body |
/// | 20–21 | number of descriptors |
/// | 22–23 | flags: none are defined, so all are zero |
struct Frame: Hashable, Sendable {
    /// The purpose of a packet.
    enum Kind: UInt8, CaseIterable, Sendable {
        /// The client's first packet, with the ``limits`` of what it can receive.
        case hello = 1
        /// The server's answer to a hello, which admits the client and states the ``limits`` of what the server can receive.
        case welcome = 2
        /// The last packet that the port sends to a client that it refuses. The ID of the packet is the ``Refusal``.
        case refusal = 3
        /// A message.
        case message = 4
        /// A message whose sender waits for a reply.
        case request = 5
        /// The reply to a request.
        case reply = 6
        /// The notice that there will be no reply to a request.
        case noReply = 7
    }

    /// The number of bytes of the head.
    static let headLength = 24

    /// The largest number of descriptors that the kernel accepts in one packet.
    static let mostDescriptors = 253

    var kind: Kind
    /// The ID that the program gives a message, request or reply.
    ///
    /// In a refusal, `id` is the reason. In a hello or a welcome, it is the limit of descriptors. Otherwise it is 0.
    var id: UInt32 = 0
    /// The number of the request that the packet makes or answers.
    ///
    /// A notice that there will be no reply also answers a request. In a hello or a welcome, `number` is the limit on the length of
    /// a body. In other kinds of packet, it is 0.
    var number: UInt64 = 0
    var bodyLength: Int = 0
    var descriptorCount: Int = 0

    static let mark: UInt16 = 0x4C52
    static let version: UInt8 = 1

    /// The head of the packet as three numbers, little-endian in memory.
    ///
    /// - Precondition: The length of the body is less than 2³², and the number of descriptors is less than 2¹⁶.
    var encoded: InlineArray<3, UInt64> {
        let start = UInt64(Frame.mark) | UInt64(Frame.version) << 16 | UInt64(kind.rawValue) << 24
        let first = start | UInt64(id) << 32
        let third = UInt64(UInt32(bodyLength)) | UInt64(UInt16(descriptorCount)) << 32
        return [first.littleEndian, number.littleEndian, third.littleEndian]
    }
}

/// What stands at the head of every packet between two processes.
///
/// Little-endian, of a fixed size, and in front of the body: where it says something that is not so, the packet is
/// malformed, and its sender no peer to go on with.
///
/// | Bytes | |
/// |---|---|
/// | 0–1 | `RL` |
/// | 2 | version |
/// | 3 | kind |
/// | 4–7 | the sender's number for the kind of message |
/// | 8–15 | which request it is, or answers; 0 where there is none |
/// | 16–19 | length of the body |
/// | 20–21 | number of descriptors |
/// | 22–23 | flags: none yet, so all zero |
struct Frame: Hashable, Sendable {
    /// What a packet is for.
    enum Kind: UInt8, CaseIterable, Sendable {
        /// The client's first packet: what it can receive, its ``limits``.
        case hello = 1
        /// The server's answer to it, which lets the client in: what it can receive, its ``limits``.
        case welcome = 2
        /// The last packet to an end that is turned away: why. A ``Refusal`` as the number.
        case refusal = 3
        /// A message.
        case message = 4
        /// A message whose sender waits for a reply.
        case request = 5
        /// The reply to a request.
        case reply = 6
        /// There will be no reply to a request.
        case noReply = 7
    }

    /// The size of the head.
    static let headLength = 24

    /// How many descriptors a packet carries at most: the kernel's number.
    static let mostDescriptors = 253

    var kind: Kind
    /// The kind of a message, request or reply, which programs number as they like; of a refusal, its reason; of a greeting,
    /// how many descriptors; else 0.
    var id: UInt32 = 0
    /// Which request it is, or answers; of a greeting, how long a body; else 0.
    var number: UInt64 = 0
    var bodyLength: Int = 0
    var descriptorCount: Int = 0

    static let mark: UInt16 = 0x4C52
    static let version: UInt8 = 1

    /// The head of the packet, as three numbers that are little-endian in memory.
    ///
    /// - Precondition: The length of the body is less than 2³², the number of descriptors less than 2¹⁶.
    var encoded: InlineArray<3, UInt64> {
        let start = UInt64(Frame.mark) | UInt64(Frame.version) << 16 | UInt64(kind.rawValue) << 24
        let first = start | UInt64(id) << 32
        let third = UInt64(UInt32(bodyLength)) | UInt64(UInt16(descriptorCount)) << 32
        return [first.littleEndian, number.littleEndian, third.littleEndian]
    }
}

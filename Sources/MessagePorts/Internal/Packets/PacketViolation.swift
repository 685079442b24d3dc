/// A packet that breaks the rules of the protocol, and so ends its connection.
enum PacketViolation: Hashable, Sendable {
    /// The packet is not a well-formed packet of a port.
    case malformed(Frame.Fault)
    /// The packet is longer than the largest packet that is accepted.
    case tooLong(length: Int)
    /// The packet carries more descriptors than are accepted.
    case tooManyDescriptors(limit: Int)
    /// The packet is well-formed, but is not allowed at this point, or is beyond the limits.
    case refused(Frame.Kind, bodyLength: Int, Frame.Refusal)

    init(_ frame: Frame, _ refusal: Frame.Refusal) {
        self = .refused(frame.kind, bodyLength: frame.bodyLength, refusal)
    }

    /// The reason that is sent to the other end.
    var refusal: Frame.Refusal {
        switch self {
        case .malformed: .malformed
        case .tooLong, .tooManyDescriptors: .tooLarge
        case .refused(_, _, let refusal): refusal
        }
    }
}

extension PacketViolation: CustomStringConvertible {
    /// The description of the packet or of its fault, for a log.
    var description: String {
        switch self {
        case .malformed(let fault): "a malformed packet: \(fault)"
        case .tooLong(let length): "a packet of \(length) bytes"
        case .tooManyDescriptors(let limit): "a packet with more than \(limit) descriptors"
        case .refused(let kind, let length, _): "a \(kind) of \(length) bytes"
        }
    }
}

import TestExpectations
import TestSupport

@testable import MessagePorts
@testable import RunLoops

/// A generator of packets, most of which are malformed: well-formed packets with a few changes.
struct FrameMutator {
    private var random: SplitMix64
    private var last: [UInt8] = []

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// The next packet, and the number of its descriptors.
    mutating func next() -> (bytes: [UInt8], descriptors: Int) {
        var (packet, descriptors) = goodPacket()
        // In a quarter of the packets, no byte changes.
        for _ in 0..<Int.random(in: 0..<8, using: &random) % 4 { mutate(&packet) }
        if one(in: 8) { descriptors = [0, 1, 2, 253][Int.random(in: 0..<4, using: &random)] }
        last = packet
        return (packet, descriptors)
    }

    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func goodPacket() -> ([UInt8], Int) {
        guard let kind = Frame.Kind.allCases.randomElement(using: &random) else { return ([], 0) }
        var frame = Frame(kind: kind)
        switch kind {
        case .hello, .welcome:
            frame = Frame(
                kind,
                limits: Frame.Limits(
                    bodyLength: UInt32.random(in: 0...256, using: &random),
                    descriptorCount: UInt32.random(in: 0...253, using: &random)))
        case .refusal: frame.id = UInt32.random(in: 1...6, using: &random)
        case .message, .request, .reply:
            frame.id = UInt32(truncatingIfNeeded: random.next())
            frame.bodyLength = one(in: 16) ? 2_000 : Int.random(in: 0..<64, using: &random)
            frame.descriptorCount = one(in: 4) ? Int.random(in: 1...3, using: &random) : 0
            if kind != .message { frame.number = UInt64.random(in: 1...100, using: &random) }
        case .noReply: frame.number = UInt64.random(in: 1...100, using: &random)
        }
        if frame.descriptorCount == 0 && one(in: 32) { frame.descriptorCount = 1 }
        return (bytes(of: frame) + [UInt8](repeating: 0xAB, count: frame.bodyLength), frame.descriptorCount)
    }

    private mutating func mutate(_ packet: inout [UInt8]) {
        if packet.isEmpty { return }
        // Most faults are in the head.
        let place = Int.random(in: 0..<(one(in: 4) ? packet.count : min(24, packet.count)), using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: packet[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: packet[place] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &random)]
        case 2: packet[place] &+= one(in: 2) ? 1 : 0xFF
        case 3: packet[place] = UInt8(truncatingIfNeeded: random.next())
        case 4: packet.removeLast(packet.count - place)
        case 5: packet += [UInt8](repeating: 0xCD, count: Int.random(in: 1..<64, using: &random))
        case 6: packet.removeSubrange(place..<min(packet.count, place + 4))
        default:
            // The head of the previous packet, with the tail of this one.
            let head = last.prefix(place)
            packet.replaceSubrange(0..<min(head.count, packet.count), with: head)
        }
    }
}

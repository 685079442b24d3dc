import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The head of a packet.
@Suite struct FrameTests {
    @Test func `a frame is little-endian bytes in a fixed order`() {
        var frame = Frame(kind: .request, id: 0x0403_0201, number: 0x0807_0605_0403_0201)
        frame.bodyLength = 0x0A09
        frame.descriptorCount = 0x0B
        #expect(
            bytes(of: frame) == [
                0x52, 0x4C, 1, 5, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 0x09, 0x0A, 0, 0, 0x0B, 0, 0, 0,
            ])
        #expect(bytes(of: frame).count == Frame.headLength)
    }

    @Test(arguments: Frame.Kind.allCases) func `a frame is decoded as it was encoded`(kind: Frame.Kind) throws
    {
        for id in [0, 1, 6, 253, 254, UInt32.max] {
            for number in [0, 1, UInt64(UInt32.max), 1 << 32, .max] {
                for (length, count) in [(0, 0), (1, 0), (70_000, 3), (0, 253)] {
                    let frame = Frame(
                        kind: kind, id: id, number: number, bodyLength: length, descriptorCount: count)
                    let packet = bytes(of: frame) + [UInt8](repeating: 0, count: length)
                    if isLegal(frame) {
                        #expect(try decode(packet, count) == frame)
                    } else {
                        #expect(throws: Frame.Fault.self) { try decode(packet, count) }
                    }
                }
            }
        }
    }

    @Test func `each fault of a packet is reported as itself`() {
        let message = Frame(kind: .message, id: 7, bodyLength: 2, descriptorCount: 1)
        let good = bytes(of: message) + [1, 2]
        func fault(descriptors: Int = 1, _ change: (inout [UInt8]) -> Void) -> Frame.Fault? {
            var packet = good
            change(&packet)
            do throws(Frame.Fault) {
                _ = try decode(packet, descriptors)
                return nil
            } catch { return error }
        }
        #expect(fault { _ in } == nil)
        for length in 0..<Frame.headLength {
            #expect(fault { $0 = Array($0.prefix(length)) } == .tooShort(length: length))
        }
        #expect(fault { $0[0] = 0x53 } == .foreign(mark: 0x4C53))
        #expect(fault { $0[1] = 0 } == .foreign(mark: 0x52))
        #expect(fault { $0[2] = 2 } == .unknownVersion(2))
        for kind: UInt8 in [0, 8, 255] { #expect(fault { $0[3] = kind } == .unknownKind(kind)) }
        #expect(fault { $0[22] = 1 } == .unknownFlags(1))
        #expect(fault { $0[23] = 0x80 } == .unknownFlags(0x8000))
        #expect(fault { $0[16] = 1 } == .wrongLength(said: 1, found: 2))
        #expect(fault { $0[19] = 0xFF } == .wrongLength(said: 0xFF00_0002, found: 2))
        #expect(fault { $0.append(0) } == .wrongLength(said: 2, found: 3))
        #expect(fault { $0.removeLast() } == .wrongLength(said: 2, found: 1))
        #expect(fault { $0[20] = 0 } == .wrongDescriptorCount(said: 0, found: 1))
        #expect(fault { $0[21] = 1 } == .wrongDescriptorCount(said: 257, found: 1))
        #expect(fault(descriptors: 0) { _ in } == .wrongDescriptorCount(said: 1, found: 0))
        #expect(fault(descriptors: 2) { _ in } == .wrongDescriptorCount(said: 1, found: 2))
        #expect(fault { $0[8] = 1 } == .wrongNumber(.message, 1))
        #expect(fault { $0[3] = 5 } == .wrongNumber(.request, 0))
        #expect(fault { $0[3] = 6 } == .wrongNumber(.reply, 0))
    }

    @Test func `a body or descriptors in a kind that carries none are a fault`() {
        func fault(_ frame: Frame) -> Frame.Fault? {
            do throws(Frame.Fault) {
                _ = try decode(
                    bytes(of: frame) + [UInt8](repeating: 0, count: frame.bodyLength), frame.descriptorCount)
                return nil
            } catch { return error }
        }
        #expect(fault(Frame(kind: .noReply, number: 1)) == nil)
        #expect(fault(Frame(kind: .noReply, number: 1, bodyLength: 1)) == .strayBody(.noReply, length: 1))
        #expect(
            fault(Frame(kind: .noReply, number: 1, descriptorCount: 2))
                == .strayDescriptors(.noReply, count: 2))
        #expect(fault(Frame(kind: .noReply, id: 1, number: 1)) == .wrongID(.noReply, 1))
        #expect(fault(Frame(kind: .noReply)) == .wrongNumber(.noReply, 0))
        #expect(fault(Frame(kind: .hello, number: 1 << 32)) == .wrongNumber(.hello, 1 << 32))
        #expect(fault(Frame(kind: .welcome, id: 254)) == .wrongID(.welcome, 254))
        #expect(fault(Frame(kind: .welcome, id: 253, bodyLength: 8)) == .strayBody(.welcome, length: 8))
        #expect(fault(Frame(kind: .refusal)) == .wrongID(.refusal, 0))
        #expect(fault(Frame(kind: .refusal, id: 7)) == .wrongID(.refusal, 7))
        #expect(fault(Frame(kind: .refusal, id: 1, number: 1)) == .wrongNumber(.refusal, 1))
        for refusal in Frame.Refusal.allCases {
            #expect(fault(Frame(kind: .refusal, id: refusal.rawValue)) == nil)
        }
    }

    @Test func `a greeting states the limits of its sender`() throws {
        for limits in [
            Frame.Limits(bodyLength: 65_536, descriptorCount: 16), .init(bodyLength: 0, descriptorCount: 0),
            .init(bodyLength: .max, descriptorCount: 253),
        ] {
            for kind in [Frame.Kind.hello, .welcome] {
                #expect(try decode(bytes(of: Frame(kind, limits: limits)), 0).limits == limits)
            }
        }
        let limits = Frame.Limits(bodyLength: 10, descriptorCount: 2)
        #expect(limits.allow(Frame(kind: .message, bodyLength: 10, descriptorCount: 2)))
        #expect(!limits.allow(Frame(kind: .message, bodyLength: 11)))
        #expect(!limits.allow(Frame(kind: .message, descriptorCount: 3)))
    }

    @Test func `a frame travels as one packet with its body and its descriptors`() throws {
        let ends = try PacketSocket.pair()
        let body: [UInt8] = [1, 2, 3]
        let frame = Frame(kind: .reply, id: 5, number: 6)
        #expect(ends.near.send(frame, body: unsafe body.span.bytes, descriptors: [2, 2]) == .sent)
        #expect(ends.near.send(Frame(kind: .noReply, number: 7)) == .sent)
        let whole = Frame(kind: .reply, id: 5, number: 6, bodyLength: 3, descriptorCount: 2)
        #expect(ends.far.take() == .packet(bytes(of: whole) + body, descriptors: 2))
        #expect(ends.far.take() == .packet(bytes(of: Frame(kind: .noReply, number: 7)), descriptors: 0))
    }
}

/// True if a frame of this kind is allowed to have these fields.
private func isLegal(_ frame: Frame) -> Bool {
    let isBare = frame.bodyLength == 0 && frame.descriptorCount == 0
    return switch frame.kind {
    case .hello, .welcome: frame.number <= UInt32.max && frame.id <= 253 && isBare
    case .refusal: frame.number == 0 && (1...6).contains(frame.id) && isBare
    case .message: frame.number == 0
    case .request, .reply: frame.number != 0
    case .noReply: frame.number != 0 && frame.id == 0 && isBare
    }
}

/// The bytes of a frame.
func bytes(of frame: Frame) -> [UInt8] {
    let numbers = frame.encoded
    return numbers.indices.flatMap { index in
        (0..<8).map { UInt8(truncatingIfNeeded: UInt64(littleEndian: numbers[index]) >> (8 * $0)) }
    }
}

/// Decodes a packet.
func decode(_ packet: [UInt8], _ descriptors: Int) throws(Frame.Fault) -> Frame {
    let result: Result<Frame, Frame.Fault> = unsafe packet.withUnsafeBytes { packet in
        // Safe: the frame is decoded while the bytes of the array are valid.
        do throws(Frame.Fault) {
            return .success(try unsafe Frame(decoding: packet, descriptors: descriptors))
        } catch { return .failure(error) }
    }
    return try result.get()
}

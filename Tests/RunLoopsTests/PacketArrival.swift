import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// What has come, as a test compares it; its descriptors are closed.
enum Arrival: Equatable {
    case packet([UInt8], descriptors: Int)
    case wouldBlock
    case end
    case tooLong(Int)
    case lacksDescriptors
    case failed(SystemError)
}

extension PacketSocket {
    /// Receives one packet.
    borrowing func take(
        capacity: Int = 65_536, _ look: ([CInt]) -> Void = { _ in }
    ) -> Arrival {
        // Safe: the memory is the block's own.
        unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
            switch unsafe receive(into: buffer) {
            case .packet(let length, let descriptors):
                look(descriptors.numbers)
                return .packet(unsafe Array(buffer.prefix(length)), descriptors: descriptors.count)
            case .wouldBlock: return .wouldBlock
            case .end: return .end
            case .tooLong(let length): return .tooLong(length)
            case .lacksDescriptors: return .lacksDescriptors
            case .failed(let error): return .failed(error)
            }
        }
    }

    /// Sends bytes that no frame stands before.
    borrowing func give(_ bytes: [UInt8], _ rest: [UInt8] = [], descriptors: [CInt] = []) -> Sent {
        // Safe: bytes have no padding, and the arrays outlive the call.
        unsafe send(head: bytes.span.bytes, body: rest.span.bytes, descriptors: descriptors)
    }
}

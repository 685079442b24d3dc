import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A received packet in a form that a test can compare, with its descriptors closed.
enum Arrival: Equatable {
    case packet([UInt8], descriptors: Int)
    case wouldBlock
    case end
    case tooLong(Int)
    case lacksDescriptors
    case exceedsAllowance(opened: Int)
    case failed(SystemError)
}

extension PacketSocket {
    /// Receives one packet.
    borrowing func take(
        capacity: Int = 65_536, _ allowance: DescriptorQuota.Allowance = .any, waits: Bool = false,
        _ look: ([CInt]) -> Void = { _ in }
    ) -> Arrival {
        // Safe: the memory belongs to the block.
        unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
            switch unsafe receive(into: buffer, allowance, waits: waits) {
            case .packet(let length, let descriptors):
                look(descriptors.numbers)
                return .packet(unsafe Array(buffer.prefix(length)), descriptors: descriptors.count)
            case .wouldBlock: return .wouldBlock
            case .end: return .end
            case .tooLong(let length, _): return .tooLong(length)
            case .lacksDescriptors: return .lacksDescriptors
            case .exceedsAllowance(let opened): return .exceedsAllowance(opened: opened.count)
            case .failed(let error): return .failed(error)
            }
        }
    }

    /// Waits for one packet or the end, and receives it.
    ///
    /// The end arrives when no process has the other end. A child that another test has just started has the other end, too, until
    /// the child calls exec.
    borrowing func takeWhatComes() -> Arrival {
        let end = ContinuousClock.Instant.hang
        while true {
            let arrival = take()
            if arrival != .wouldBlock || ContinuousClock.now > end { return arrival }
            sched_yield()
        }
    }

    /// Sends bytes without the head of a frame.
    borrowing func give(_ bytes: [UInt8], _ rest: [UInt8] = [], descriptors: [CInt] = []) -> Sent {
        // Safe: bytes have no padding, and the arrays outlive the call.
        unsafe send(head: bytes.span.bytes, body: rest.span.bytes, descriptors: descriptors)
    }
}

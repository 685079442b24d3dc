import Foundation
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Any bytes that another process sends affect only the connection of that process.
///
/// `RUNLOOPS_STRESS_FRAMES` sets the number of packets, and has the counts printed.
@Suite struct FrameMutationTests {
    // Guarantees: Nothing that another process sends can end the program.
    @Test func `mutated packets end their connection, are counted, and leave no memory and no descriptor`()
        async throws
    {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let asked = ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_FRAMES"].flatMap(Int.init)
            let count = asked ?? 100_000
            let receiver = try MutationReceiver()
            let bound = try boundOfDescriptors()
            // A first run, for memory that is allocated once and kept.
            receiver.run(seed: 0, count: 10_000)
            let memory = Allocations.bytesInUse
            receiver.tally = [:]
            receiver.endings = 0
            fillDescriptors(below: bound)
            try limitDescriptors(to: bound + 100)
            for seed in 0..<max(1, count / 10_000) { receiver.run(seed: UInt64(seed), count: 10_000) }
            let kept = Allocations.bytesInUse - memory
            try refuseNoDescriptors(from: bound)

            let tally = receiver.tally
            #expect(tally.values.reduce(0, +) == max(1, count / 10_000) * 10_000)
            // Every fault and every accepted kind occurred.
            let all = [
                "taken", "tooLong", "lacksDescriptors", "tooShort", "foreign", "unknownVersion",
                "unknownKind",
                "unknownFlags", "wrongLength", "wrongDescriptorCount", "wrongNumber", "strayBody",
                "strayDescriptors", "wrongID", "outOfPlace", "tooLarge", "refusedByPeer",
            ]
            #expect(Set(tally.keys) == Set(all))
            // The runtime opens and allocates some things late. If each of at least 90,000 connections leaked, more would remain.
            let open = openDescriptors(from: bound)
            let isClean = open < 10 && (!Allocations.areCounted || kept < 1_000_000)
            #expect(isClean)
            if asked != nil || !isClean {
                let counts = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                let rest = ["connections ended \(receiver.endings)", "bytes kept \(kept)", "open \(open)"]
                complain((counts + rest).joined(separator: ", "))
            }
        }
        let counts = String(decoding: result.standardErrorContent, as: UTF8.self)
        if !counts.isEmpty { complain(counts) }
    }
}

/// Receives the packets as a connection does.
///
/// After the end of a connection, the receiver continues with a new connection.
private final class MutationReceiver {
    private let ends: PacketSocket.Pair
    private var state = MutationReceiver.newState(.server)
    /// The number of times that each result occurred.
    var tally: [String: Int] = [:]
    /// The number of connections that have ended.
    var endings = 0
    private var number = 0

    init() throws {
        ends = try PacketSocket.pair()
    }

    private static func newState(_ role: ConnectionState.Role) -> ConnectionState {
        ConnectionState(role, limits: Frame.Limits(bodyLength: 60, descriptorCount: 2))
    }

    func run(seed: UInt64, count: Int) {
        var mutator = FrameMutator(seed: seed)
        // Safe: the memory belongs to the block.
        unsafe withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 8) { buffer in
            for _ in 0..<count {
                let (packet, descriptors) = mutator.next()
                let sent = [CInt](repeating: STDERR_FILENO, count: descriptors)
                // Other processes of the user can have many descriptors in flight.
                while case let result = ends.near.give(packet, descriptors: sent), result != .sent {
                    precondition(result == .outOfKernelResources)
                    sched_yield()
                }
                tally[unsafe takeOne(buffer), default: 0] += 1
            }
        }
    }

    private func takeOne(_ buffer: UnsafeMutableRawBufferPointer) -> String {
        switch unsafe ends.far.receive(into: buffer) {
        case .packet(let length, let descriptors):
            let packet = unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(length))
            return unsafe take(packet, descriptors.count)
        case .tooLong: return refuse("tooLong", .tooLarge)
        case .lacksDescriptors: return refuse("lacksDescriptors", .outOfResources)
        case .exceedsAllowance: preconditionFailure("any number is allowed")
        case .wouldBlock: preconditionFailure("a packet was sent")
        case .end: preconditionFailure("the sender is there")
        case .failed(let error): preconditionFailure("\(error)")
        }
    }

    private func take(_ packet: UnsafeRawBufferPointer, _ descriptors: Int) -> String {
        do throws(Frame.Fault) {
            let frame = try unsafe Frame(decoding: packet, descriptors: descriptors)
            precondition(unsafe bytes(of: frame) == Array(packet.prefix(Frame.headLength)))
            switch state.receive(frame) {
            case .greet, .deliver, .answer: return "taken"
            case .refuse(let refusal):
                end()
                return refusal == .tooLarge ? "tooLarge" : "outOfPlace"
            case .close:
                end()
                return "refusedByPeer"
            case .drop: preconditionFailure("the connection was open")
            }
        } catch {
            // The name of the case.
            return refuse(String("\(Mirror(reflecting: error).children.first?.label ?? "")"), .malformed)
        }
    }

    private func refuse(_ outcome: String, _ refusal: Frame.Refusal) -> String {
        precondition(state.refuse(refusal) == .refuse(refusal))
        end()
        return outcome
    }

    private func end() {
        endings += 1
        number += 1
        // A server's and a client's connection in turn, new and greeted.
        let role = number & 1 == 0 ? ConnectionState.Role.server : .client
        state = MutationReceiver.newState(role)
        if number & 2 == 0 { return }
        let action = state.receive(Frame(role == .server ? .hello : .welcome, limits: state.limits))
        precondition(action == .greet)
    }
}

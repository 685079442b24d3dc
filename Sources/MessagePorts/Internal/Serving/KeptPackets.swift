internal import CRunLoops
internal import RunLoops

/// The packets that a port keeps for all its peers that do not read, and their limits in all.
///
/// The limits of one connection do not bound what many connections make the port keep. So a group of peers may make the port keep
/// as much as is then still free: one group alone gets half of all, and the next group always gets something.
///
/// > Thread safety: any thread.
final class KeptPackets: Sendable {
    /// A number of bytes and of descriptors.
    struct Amount: Sendable {
        var bytes = 0
        var descriptors = 0

        static func + (left: Amount, right: Amount) -> Amount {
            Amount(bytes: left.bytes + right.bytes, descriptors: left.descriptors + right.descriptors)
        }

        static func - (left: Amount, right: Amount) -> Amount {
            Amount(bytes: left.bytes - right.bytes, descriptors: left.descriptors - right.descriptors)
        }
    }

    /// The answer to the question if a packet may be kept.
    enum Answer: Sendable {
        /// It may; it counts until the place is destroyed.
        case kept(Place)
        /// The group makes the port keep too many bytes.
        case tooManyBytes
        /// The group makes the port keep too many descriptors.
        case tooManyDescriptors
    }

    /// The place of one packet.
    final class Place: Sendable {
        private let packets: KeptPackets
        private let amount: Amount
        private let group: PeerGroup.Key

        fileprivate init(_ packets: KeptPackets, _ amount: Amount, _ group: PeerGroup.Key) {
            (self.packets, self.amount, self.group) = (packets, amount, group)
        }

        deinit { packets.remove(amount, of: group) }
    }

    private struct State: Sendable {
        var all = Amount()
        var ofGroup: [PeerGroup.Key: Amount] = [:]
    }

    /// The number of connections whose limits together are the limit of bytes.
    private static let fullConnections = 16

    private let most: Amount
    private let state = Guarded(State())

    init(_ limits: MessagePort.Options) {
        let ofConnection = limits.keptReplyByteLimit.addingReportingOverflow(limits.keptMessageByteLimit)
        let bytes = ofConnection.partialValue.multipliedReportingOverflow(by: KeptPackets.fullConnections)
        most = Amount(
            bytes: ofConnection.overflow || bytes.overflow ? .max / 2 : bytes.partialValue,
            descriptors: min(1_024, runloops_descriptor_limit() / 4))
    }

    /// Counts a packet, unless there would be too much.
    ///
    /// If `isFirst` is true, the peer has no other packet that waits, and the bytes are kept in any case.
    func add(_ amount: Amount, of group: PeerGroup.Key, isFirst: Bool) -> Answer {
        let refusal: Answer? = state.withLock { state in
            let own = (state.ofGroup[group] ?? Amount()) + amount
            let all = state.all + amount
            if amount.descriptors > 0, own.descriptors > most.descriptors - all.descriptors {
                return .tooManyDescriptors
            }
            if !isFirst, own.bytes > most.bytes - all.bytes { return .tooManyBytes }
            state.all = all
            state.ofGroup[group] = own
            return nil
        }
        return refusal ?? .kept(Place(self, amount, group))
    }

    private func remove(_ amount: Amount, of group: PeerGroup.Key) {
        state.withLock { state in
            state.all = state.all - amount
            let rest = (state.ofGroup[group] ?? Amount()) - amount
            state.ofGroup[group] = rest.bytes == 0 ? nil : rest
        }
    }

    /// The amount of all peers, for tests.
    var amount: Amount { state.withLock { $0.all } }
}

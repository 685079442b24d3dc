internal import CSockets
internal import RunLoops

/// The number of descriptors that were received on one connection and are neither taken nor closed, and the bounds of that number.
///
/// Each descriptor is counted for the connection, for its ``PeerGroup``, and for the whole process, and each of the three has a
/// bound. So neither a single peer nor all peers together can use up the descriptors that this process needs.
///
/// > Thread safety: any thread.
final class DescriptorQuota: Sendable {
    /// The number of descriptors, neither taken nor closed, at which the group that sent them can send no more.
    static let mostOfGroup = 128

    /// The maximum number of descriptors of all peers together; half of the process's descriptor limit if that is less.
    private static let mostOfProcess = 1_024

    /// The descriptors of all peers.
    private static let process = DescriptorCounter()

    let group: PeerGroup
    private let counter = DescriptorCounter()

    /// Makes the quota of a connection.
    ///
    /// - Parameter peer: The peer, or nil if the kernel does not report it.
    init(of peer: PeerCredentials?) {
        group = PeerGroup.join(peer.map { PeerGroup.Key($0) } ?? .unknown)
    }

    deinit {
        // A forked child receives nothing, and the lock can be held by a thread that does not exist in the child.
        if !Fork.isChild { group.leave() }
    }

    // MARK: - Counting

    func receive(_ count: Int) {
        counter.receive(count)
        group.counter.receive(count)
        DescriptorQuota.process.receive(count)
    }

    func take(_ count: Int) {
        counter.take(count)
        group.counter.take(count)
        DescriptorQuota.process.take(count)
    }

    func beginClosing(_ count: Int, wereCounted: Bool) {
        counter.beginClosing(count, wereCounted: wereCounted)
        group.counter.beginClosing(count, wereCounted: wereCounted)
        DescriptorQuota.process.beginClosing(count, wereCounted: wereCounted)
    }

    func endClosing(_ count: Int) {
        counter.endClosing(count)
        group.counter.endClosing(count)
        DescriptorQuota.process.endClosing(count)
    }

    /// The number of this connection's descriptors that are neither taken nor closed.
    var total: Int { counter.total }

    /// The number of all peers' descriptors that are neither taken nor closed, for tests.
    static var totalOfProcess: Int { process.total }

    // MARK: - Bounds

    /// The number of descriptors that the next packet may carry.
    enum Allowance: Equatable {
        /// Any number. One system call receives the packet.
        case any
        /// At most this number. The packet's descriptors are counted before the packet is received.
        case atMost(Int)
    }

    /// Returns the number of descriptors that the next packet of this connection may carry to a port.
    ///
    /// While no quota counts any descriptor, which is nearly always, this costs two loads and a read of the coarse clock. The next
    /// packet may then carry any number of descriptors, up to 253, even if that is more than the limits allow. Its descriptors are
    /// counted at once, so each thread that is reading at that moment receives at most one such packet.
    ///
    /// - Parameters:
    ///   - limit: The number of descriptors that a permitted message may carry.
    ///   - untaken: The maximum number of the connection's descriptors that are neither taken nor closed. At this number, the
    ///     connection's packets may carry no descriptors.
    /// - Returns: The number of descriptors that the packet may carry.
    func allowance(limit: Int, untaken: Int) -> Allowance {
        if DescriptorQuota.process.isEmpty, DescriptorHeadroom.isAmple { return .any }
        return strictAllowance(limit: limit, untaken: untaken)
    }

    @inline(never)
    private func strictAllowance(limit: Int, untaken: Int) -> Allowance {
        DescriptorCloser.retryThread()
        let total = DescriptorQuota.process.total
        if counter.total >= untaken || group.counter.total >= DescriptorQuota.mostOfGroup {
            return .atMost(0)
        }
        if total > 0, total + limit > DescriptorQuota.processBound { return .atMost(0) }
        // Only descriptors that are being closed can be a sign of an attack; descriptors that the program keeps are no such sign.
        let isQuiet = DescriptorQuota.process.closing == 0 && DescriptorHeadroom.isAmple
        if isQuiet, total + PacketSocket.mostDescriptors <= DescriptorQuota.processBound { return .any }
        return .atMost(limit)
    }

    /// Returns the number of descriptors that the next reply may carry.
    ///
    /// Only descriptors that are being closed count: the program has asked for the descriptors that it keeps.
    func allowanceOfReply(limit: Int) -> Allowance {
        let closing = DescriptorQuota.process.closing
        if closing == 0, DescriptorHeadroom.isAmple { return .any }
        DescriptorCloser.retryThread()
        if group.counter.closing >= DescriptorQuota.mostOfGroup { return .atMost(0) }
        if closing > 0, closing + limit > DescriptorQuota.processBound { return .atMost(0) }
        return .atMost(limit)
    }

    /// True if the peer may open no more connections, because descriptors of its group cannot be closed as fast as they arrive.
    ///
    /// The limit is twice ``mostOfGroup``. At ``mostOfGroup``, the port receives no more descriptors of the group. But each
    /// connection of the group that is closed with unread packets counts as one more descriptor that is being closed, so the number
    /// can still rise.
    var isGroupOverLimit: Bool {
        group.counter.closing >= 2 * DescriptorQuota.mostOfGroup || DescriptorCloser.isStuck(group)
    }

    /// True if this connection has sent descriptors that cannot be closed in time.
    var isStuck: Bool { counter.closing > 0 && DescriptorCloser.isStuck(group) }

    /// True if all peers together have the maximum number of descriptors in this process.
    static var isProcessAtLimit: Bool { process.total >= processBound }

    private static var processBound: Int { min(mostOfProcess, runloops_descriptor_limit() / 2) }
}

extension DescriptorQuota: DescriptorClosing {
    /// Schedules the closing of a descriptor that was taken out of its message.
    func close(_ descriptor: CInt) { DescriptorCloser.close([descriptor], for: self, wereCounted: false) }
}

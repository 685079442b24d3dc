internal import CRunLoops
internal import RunLoops

/// The count of the descriptors that were received on one connection, and the bounds on that count.
///
/// A descriptor is counted while it waits to be taken out of its message, and while it waits to be closed or is being closed. It is
/// counted for the connection, for its ``PeerGroup``, and for the whole process, and each of the three has a bound. So neither a
/// single peer nor all peers together can use up the descriptors that this process needs.
///
/// > Thread safety: any thread.
final class DescriptorQuota: Sendable {
    /// The maximum number of counted descriptors of one ``PeerGroup``; at this number, the group can send no more descriptors.
    static let mostOfGroup = 128

    /// The maximum number of counted descriptors of all peers together.
    ///
    /// If half of the process's descriptor limit is less than this number, that half is the maximum.
    private static let mostOfProcess = 1_024

    /// The count of the descriptors of all peers.
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

    /// The number of counted descriptors of this connection: those that wait to be taken, and those that are being closed.
    var total: Int { counter.total }

    /// The number of counted descriptors of all peers together, for tests.
    static var totalOfProcess: Int { process.total }

    // MARK: - Bounds

    /// The number of descriptors that the next packet may carry.
    enum Allowance: Equatable {
        /// The packet may carry any number of descriptors, so one system call receives it.
        case any
        /// The packet may carry at most this number of descriptors.
        ///
        /// One system call counts the packet's descriptors without removing the packet from the kernel's queue, and a second
        /// system call receives the packet.
        case atMost(Int)
    }

    /// Returns the number of descriptors that the next packet of this connection may carry to a port.
    ///
    /// Usually, the count of the descriptors of all peers is 0. The function then costs two loads and a read of the coarse clock,
    /// and does not apply the limits: the next packet may carry any number of descriptors, up to 253. As soon as one such packet is
    /// received, its descriptors are counted, and the limits apply. Each thread that has begun to read before that moment receives
    /// at most one packet to which the limits were not applied.
    ///
    /// - Parameters:
    ///   - limit: The port's limit for the descriptors of one message.
    ///   - untaken: The limit on the connection's counted descriptors. When it is reached, packets may carry no descriptors.
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
    /// Only descriptors that are being closed reduce this number. If the program keeps the descriptors of earlier replies, they do
    /// not reduce the number, because the program asked for those replies.
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
    /// The property is true in two cases: a thread that closes descriptors of the group is stuck, or at least twice ``mostOfGroup``
    /// descriptors of the group are being closed.
    ///
    /// When ``mostOfGroup`` descriptors are being closed, the port receives no more descriptors from the group. But the number can
    /// still rise. If a connection with unread packets is closed, its socket counts as one more descriptor that is being closed.
    var isGroupOverLimit: Bool {
        group.counter.closing >= 2 * DescriptorQuota.mostOfGroup || DescriptorCloser.isStuck(group)
    }

    /// True if this connection has descriptors that are being closed, and a thread that closes descriptors of its group is stuck.
    var isStuck: Bool { counter.closing > 0 && DescriptorCloser.isStuck(group) }

    /// True if the counted descriptors of all peers together have reached their maximum.
    static var isProcessAtLimit: Bool { process.total >= processBound }

    private static var processBound: Int { min(mostOfProcess, runloops_descriptor_limit() / 2) }
}

extension DescriptorQuota: DescriptorClosing {
    /// Schedules the closing of a descriptor that was taken out of its message.
    func close(_ descriptor: CInt) { DescriptorCloser.close([descriptor], for: self, wereCounted: false) }

    /// Schedules the closing of descriptors that were not taken out of their message.
    func close(counted descriptors: [CInt]) {
        DescriptorCloser.close(descriptors, for: self, wereCounted: true)
    }
}

internal import CSockets
internal import RunLoops
internal import Synchronization

/// The account of one connection: the descriptors that its other end has sent and that are neither taken nor closed.
///
/// Each is counted for the connection, for its lane, and for the whole process, and each of the three has a bound. So no peer,
/// and not all of them together, can take the descriptors that this process needs.
///
/// > Thread safety: any thread.
final class DescriptorAccount: Sendable {
    /// The number of a lane's descriptors from which on it may send no more.
    static let mostOfLane = 128

    /// The number of all peers' descriptors beyond which none is received: half of what this process may have open, and at
    /// most so many.
    private static let mostOfProcess = 1_024

    /// All accounts together.
    private static let whole = DescriptorTally()

    let lane: DescriptorLane
    private let tally = DescriptorTally()

    /// Opens an account for a peer.
    ///
    /// - Parameter peer: The peer; nil if the kernel does not tell.
    init(of peer: PeerCredentials?) {
        lane = DescriptorLane.join(peer.map { DescriptorLane.Key($0) } ?? .unknown)
    }

    deinit {
        // In a forked child the lock may be held for ever, and nothing is received.
        if !Fork.isChild { lane.leave() }
    }

    // MARK: - Counting

    func receive(_ count: Int) {
        tally.receive(count)
        lane.tally.receive(count)
        DescriptorAccount.whole.receive(count)
    }

    func take(_ count: Int) {
        tally.take(count)
        lane.tally.take(count)
        DescriptorAccount.whole.take(count)
    }

    func beginClosing(_ count: Int, wereCounted: Bool) {
        tally.beginClosing(count, wereCounted: wereCounted)
        lane.tally.beginClosing(count, wereCounted: wereCounted)
        DescriptorAccount.whole.beginClosing(count, wereCounted: wereCounted)
    }

    func endClosing(_ count: Int) {
        tally.endClosing(count)
        lane.tally.endClosing(count)
        DescriptorAccount.whole.endClosing(count)
    }

    /// The number of this connection's descriptors that are neither taken nor closed.
    var total: Int { tally.total }

    /// The number of all peers' descriptors that are neither taken nor closed, for tests.
    static var totalOfProcess: Int { whole.total }

    // MARK: - Bounds

    /// The descriptors that the next packet may bring.
    enum Allowance: Equatable {
        /// As many as a packet carries. One system call receives it.
        case any
        /// This number. The kernel is asked for the packet's number before it is received.
        case atMost(Int)
    }

    /// The descriptors that the next packet of this connection may bring to a port.
    ///
    /// While no peer's descriptor is on any account, which is nearly always, the answer costs two loads and a look at the
    /// coarse clock. A packet can then bring more than the limits allow, 253, but only one for each thread that reads at that
    /// moment.
    ///
    /// - Parameters:
    ///   - limit: The number of descriptors of a permitted message.
    ///   - untaken: The number of the connection's descriptors from which on it may send no more.
    /// - Returns: The descriptors that it may bring.
    func allowance(limit: Int, untaken: Int) -> Allowance {
        if DescriptorAccount.whole.isEmpty, DescriptorHeadroom.isAmple { return .any }
        return strictAllowance(limit: limit, untaken: untaken)
    }

    @inline(never)
    private func strictAllowance(limit: Int, untaken: Int) -> Allowance {
        DescriptorCloser.tryAgain()
        let total = DescriptorAccount.whole.total
        if tally.total >= untaken || lane.tally.total >= DescriptorAccount.mostOfLane { return .atMost(0) }
        if total > 0, total + limit > DescriptorAccount.processBound { return .atMost(0) }
        // What the program keeps is no sign of an attack.
        let isQuiet = DescriptorAccount.whole.closing == 0 && DescriptorHeadroom.isAmple
        if isQuiet, total + PacketSocket.mostDescriptors <= DescriptorAccount.processBound { return .any }
        return .atMost(limit)
    }

    /// The descriptors that the next reply may bring.
    ///
    /// Those that the program keeps it has asked for, so only those count that are being closed.
    func allowanceOfReply(limit: Int) -> Allowance {
        let closing = DescriptorAccount.whole.closing
        if closing == 0, DescriptorHeadroom.isAmple { return .any }
        DescriptorCloser.tryAgain()
        if lane.tally.closing >= DescriptorAccount.mostOfLane { return .atMost(0) }
        if closing > 0, closing + limit > DescriptorAccount.processBound { return .atMost(0) }
        return .atMost(limit)
    }

    /// True if the peer may open no more connections: what the lane has sent cannot be closed, or not as fast as it comes.
    ///
    /// Messages alone do not bring a lane so far: those connections do that end with something unread.
    var isLaneOverdrawn: Bool {
        lane.tally.closing >= 2 * DescriptorAccount.mostOfLane || DescriptorCloser.isStuck(lane)
    }

    /// True if this connection has sent what cannot be closed in time.
    var isStuck: Bool { tally.closing > 0 && DescriptorCloser.isStuck(lane) }

    /// True if all peers together have as many descriptors here as they may.
    static var isProcessOverdrawn: Bool { whole.total >= processBound }

    private static var processBound: Int { min(mostOfProcess, runloops_descriptor_limit() / 2) }
}

/// Tells whether this process can surely open the descriptors of a packet.
///
/// Those for which there is no number the kernel closes at once, on the thread that receives. The look at the numbers costs a
/// system call, so its answer is used for some time.
enum DescriptorHeadroom {
    /// The time for which an answer is used.
    ///
    /// It is wrong if other code opens all but 252 of the free descriptors within that time.
    private static let nanosecondsOfAnswer: Int64 = 10_000_000

    /// The coarse time up to which the last answer, which was "yes", is used.
    private static let ampleUntil = Atomic<Int64>(0)

    static var isAmple: Bool {
        let now = runloops_coarse_time()
        if now < ampleUntil.load(ordering: .relaxed) { return true }
        return look(now)
    }

    @inline(never)
    private static func look(_ now: Int64) -> Bool {
        let isAmple = runloops_has_free_descriptors()
        if isAmple { ampleUntil.store(now + nanosecondsOfAnswer, ordering: .relaxed) }
        return isAmple
    }
}

internal import RunLoops

/// The datagram sockets of a loop that have something to do at the end of the pass, and the memory that they receive into.
///
/// > Thread safety: the loop's own thread only.
final class LoopDatagrams {
    let streams: LoopStreams
    /// The sockets that have datagrams to send or whose end is to be reported.
    private var unsettled: [DatagramSocket] = []
    /// The inbox that no socket holds.
    private var inbox: DatagramInbox?
    /// True once the loop has begun to end.
    private(set) var hasEnded = false

    var loop: RunLoop { streams.loop }

    private init(_ loop: RunLoop) {
        streams = LoopStreams.of(loop)
        loop.addPassEndWork(self)
    }

    /// Returns the sockets of a loop, which must be the loop of the calling thread.
    static func of(_ loop: RunLoop) -> LoopDatagrams {
        loop.companion(ObjectIdentifier(LoopDatagrams.self)) { LoopDatagrams(loop) }
    }

    /// Schedules a call of ``DatagramSocket/settle()`` for the end of the pass, whatever mode runs.
    func settleLater(_ socket: DatagramSocket) { unsettled.append(socket) }

    /// Lends an inbox for datagrams of a number of bytes.
    func takeInbox(byteLimit: Int) -> DatagramInbox {
        if let inbox, inbox.byteLimit >= byteLimit {
            self.inbox = nil
            return inbox
        }
        return DatagramInbox(byteLimit: byteLimit)
    }

    /// Takes back an inbox.
    func giveBack(_ inbox: DatagramInbox) { self.inbox = inbox }
}

extension LoopDatagrams: DeferredWork {
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool { !unsettled.isEmpty }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        if unsettled.isEmpty { return }
        // When a socket is settled, other sockets can be scheduled. The next call of this method settles those.
        var taken: [DatagramSocket] = []
        swap(&taken, &unsettled)
        for socket in taken { socket.settle() }
        taken.removeAll(keepingCapacity: taken.count <= 1024)
        if unsettled.isEmpty { swap(&taken, &unsettled) }
    }

    func discardWork() {
        hasEnded = true
        for socket in exchange(&unsettled, with: []) { socket.loopEnds() }
    }
}

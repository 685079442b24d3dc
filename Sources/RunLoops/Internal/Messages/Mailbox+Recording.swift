// Messages that the flight recorder sees being sent.

extension Mailbox {
    /// The shortest time between two stamps of one sender, in microseconds; shorter ones say nothing that is worth their cost.
    private static let stampInterval: UInt64 = 10

    /// Stamps the oldest of some messages that are about to be sent, and records that they are.
    ///
    /// The receiver takes the oldest message of several first, so its wait is the one that matters. A sender stamps when its
    /// message may be the one that wakes the receiver, or is the first that the receiver takes next, and each 64th message.
    ///
    /// - Parameters:
    ///   - chain: The messages.
    ///   - place: The place that the handler of the oldest will be recorded with; nil if they have no handler.
    @inline(__always)
    func noteSend(_ chain: Chain, _ place: @autoclosure () -> SourceLocation?) {
        chain.clearStamps()
        let word = current
        if word.node == nil || word.isArmed || word.sequence & 63 == 0 || Recorder.recordsEverything,
            let place = place()
        {
            stamp(chain, place)
        }
    }

    @inline(never)
    private func stamp(_ chain: Chain, _ place: SourceLocation) {
        guard let ring = Recorder.ring else { return }
        let ticks = ring.ticks
        let isSoon = ticks &- ring.own.lastPost < Mailbox.stampInterval * ring.microsecond
        if isSoon && !Recorder.recordsEverything { return }
        ring.own.lastPost = ticks
        let stamp = MessageStamp.at(ticks)
        chain.oldest.setStamp(stamp)
        ring.write(
            RecordedEvent(
                .post, end: ticks, place: ring.number(of: place), stamp: stamp, depth: ring.depth,
                number: max(1, chain.count)))
    }
}

extension Mailbox.Chain {
    /// The place of the handler of the oldest message, if the chain is on its way to a loop's mailbox.
    var place: SourceLocation? {
        switch oldest.kind {
        case .block, .blockInModes: oldest.withBlock { $0.origin }
        case .parcel, .parcelInModes: .delivery
        case .job, .preferredJob: .job
        case .signal, .control: nil
        }
    }

    /// Removes the stamps that the nodes have had in earlier uses.
    @inline(__always)
    fileprivate func clearStamps() {
        var node = newest
        while node != oldest, let older = node.next {
            node.setStamp(0)
            node = older
        }
        oldest.setStamp(0)
    }
}

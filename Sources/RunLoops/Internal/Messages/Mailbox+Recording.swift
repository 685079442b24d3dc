// The flight recorder's record of messages that are sent.

extension Mailbox {
    /// The shortest time between two stamps of one sender, in microseconds; stamps at shorter times would not be worth their
    /// cost.
    private static let stampInterval: UInt64 = 10

    /// Stamps the oldest of the messages that are about to be sent, and records that they are sent.
    ///
    /// The receiver takes the oldest message of several first, so its wait is the one that matters. A sender stamps a message
    /// that may wake the receiver, a message that is the first that the receiver takes next, and each 64th message.
    ///
    /// - Parameters:
    ///   - chain: The messages.
    ///   - place: The place with which the handler of the oldest message will be recorded; nil if the messages have no handler.
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

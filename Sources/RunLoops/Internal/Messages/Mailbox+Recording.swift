// The flight recorder's record of sent messages.

extension Mailbox {
    /// The minimum time between two stamps of one sender, in microseconds, which limits the cost of stamps.
    private static let stampInterval: UInt64 = 10

    /// Stamps the oldest of the messages that are about to be sent, and records that they are sent.
    ///
    /// The receiver takes the oldest of several messages first, so the recorder measures how long this message waits.
    ///
    /// If the recorder does not record everything, a sender tries to stamp a message in three cases only: the message can wake the
    /// receiver; the mailbox is empty, so the receiver takes this message first when it next takes its mail; or the number of
    /// messages sent before this one is a multiple of 256. Each try reads the clock, and sets no stamp within ``stampInterval`` of
    /// the last stamp. A busy sender sends some 400 messages in that time. So with more tries, most tries would read the clock for
    /// nothing.
    ///
    /// - Parameters:
    ///   - chain: The messages.
    ///   - place: The place with which the handler of the oldest message will be recorded; nil if the messages have no handler.
    @inline(__always)
    func noteSend(_ chain: Chain, _ place: @autoclosure () -> SourceLocation?) {
        chain.clearStamps()
        let word = current
        if word.node == nil || word.isArmed || word.sequence & 255 == 0 || Recorder.recordsEverything,
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
    /// The place of the handler of the oldest message, if the chain is for a loop's mailbox.
    var place: SourceLocation? {
        switch oldest.kind {
        case .block, .blockInModes: oldest.withBlock { $0.origin }
        case .parcel, .parcelInModes: .delivery
        case .job, .preferredJob: .job
        case .signal, .control: nil
        }
    }

    /// Removes the stamps that earlier uses of the nodes have left.
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

// The flight recorder's record of sent messages.

extension Mailbox {
    /// The minimum time between two stamps of one thread, in microseconds.
    ///
    /// This minimum limits the cost of stamps.
    private static let stampInterval: UInt64 = 10

    /// Records, for the flight recorder, that messages are about to be sent, and stamps the oldest of them with the time.
    ///
    /// The receiver takes the oldest message first. With the stamp, the recorder measures how long this message waits.
    ///
    /// Unless the recorder records everything, a sender tries to set a stamp in three cases only. First, the message can wake the
    /// receiver. Second, the mailbox is empty, so the receiver takes this message first when it next takes its mail. Third, the
    /// number of messages that were sent before this one is a multiple of 256.
    ///
    /// Each try reads the clock. If the thread's last stamp is less than ``stampInterval`` old, the try sets no stamp. A busy
    /// sender sends some 400 messages in that interval. If it tried to stamp each of them, most tries would set no stamp.
    ///
    /// - Parameters:
    ///   - chain: The messages that are about to be sent.
    ///   - place: The source location that will be recorded for the handler of the oldest message; nil if the messages have no
    ///     handler.
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
    /// The source location that is recorded for the handler of the oldest message; nil if the message is a signal or a request.
    ///
    /// Read this only if the chain is for a loop's mailbox.
    var place: SourceLocation? {
        switch oldest.kind {
        case .block, .blockInModes: oldest.withBlock { $0.origin }
        case .parcel, .parcelInModes: .delivery
        case .job, .preferredJob: .job
        case .signal, .control: nil
        }
    }

    /// Removes all stamps, because a node can still have the stamp of an earlier message.
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

internal import RunLoops

extension DistributedNotificationCenter {
    /// Posts a notification, and returns once this center has stored it in memory.
    ///
    /// The center keeps the notification until it is settled (``Milestone/settled``), and sends it again if the connection or the
    /// hub ends.
    ///
    /// - Parameters:
    ///   - name: The name of the event: 1 to 255 bytes in UTF-8.
    ///   - sender: The sender, up to 255 bytes in UTF-8; nil for none.
    ///   - payload: Bytes for the observers, up to ``Options/payloadLimit``.
    ///   - deliverImmediately: True if observers in suspended centers get the notification immediately, after the earlier
    ///     notifications that they hold.
    ///   - policy: The policy if the center has no room for the notification.
    /// - Returns: The number of the notification.
    /// - Throws: ``DistributedNotificationError``: ``DistributedNotificationError/Reason/full``,
    ///   ``DistributedNotificationError/Reason/tooLarge``, ``DistributedNotificationError/Reason/tooManyTopics``,
    ///   ``DistributedNotificationError/Reason/malformed`` or ``DistributedNotificationError/Reason/ended``. In these cases nothing
    ///   is sent, and the post gets no number.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func post(
        _ name: String, sender: String? = nil, payload: [UInt8] = [], deliverImmediately: Bool = false,
        whenFull policy: FullPolicy = .refuse
    ) throws(DistributedNotificationError) -> UInt64 {
        Fork.check("DistributedNotificationCenter.post")
        let topic = try topic(name, sender, payload)
        var (waits, deadline) = (false, Moment.never)
        if case .block(let time) = policy {
            (waits, deadline) = (true, Moment.now().advanced(by: time.nanosecondsRoundedUp))
        }
        while true {
            let posted = try state.post(
                topic, payload, isImmediate: deliverImmediately, dropsOldest: policy == .dropOldest,
                waits: waits)
            switch posted {
            case .taken(let number, _): return number
            case .waits(let room):
                if !room.wait(until: deadline) {
                    state.stopWaiting(for: room)
                    throw DistributedNotificationError(.full)
                }
                if let error = room.take() { throw error }
            }
        }
    }

    /// Posts a value as JSON, and returns once this center has stored it in memory.
    ///
    /// In all other respects, this is the same as ``post(_:sender:payload:deliverImmediately:whenFull:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - sender: The sender; nil for none.
    ///   - value: The value, which observers read with ``DistributedNotification/decode(_:)``.
    ///   - deliverImmediately: True if observers in suspended centers get the notification immediately, after the earlier
    ///     notifications that they hold.
    ///   - policy: The policy if the center has no room for the notification.
    /// - Returns: The number of the notification.
    /// - Throws: ``DistributedNotificationError/Reason/coding`` if the value is not encodable, or any error of the method that
    ///   posts bytes.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func post(
        _ name: String, sender: String? = nil, encoding value: some Encodable,
        deliverImmediately: Bool = false,
        whenFull policy: FullPolicy = .refuse
    ) throws(DistributedNotificationError) -> UInt64 {
        try post(
            name, sender: sender, payload: JSONCoding.encode(value), deliverImmediately: deliverImmediately,
            whenFull: policy)
    }

    /// Posts a notification, and waits until it is accepted or settled.
    ///
    /// If the center has no room, this waits for room first. If the task is cancelled or the deadline passes during that wait,
    /// nothing is posted. If the task is cancelled or the deadline passes after that wait, the call throws, but the notification
    /// stays posted.
    ///
    /// - Parameters:
    ///   - name: The name of the event: 1 to 255 bytes in UTF-8.
    ///   - sender: The sender, up to 255 bytes in UTF-8; nil for none.
    ///   - payload: Bytes for the observers, up to ``Options/payloadLimit``.
    ///   - deliverImmediately: True if observers in suspended centers get the notification immediately, after the earlier
    ///     notifications that they hold.
    ///   - milestone: The stage to wait for.
    ///   - deadline: The time at which the wait ends; nil for never.
    /// - Returns: The number of the notification.
    /// - Throws: ``DistributedNotificationError/Reason/timedOut``, ``DistributedNotificationError/Reason/cancelled``,
    ///   ``DistributedNotificationError/Reason/dropped``, or any error of
    ///   ``post(_:sender:payload:deliverImmediately:whenFull:)`` except ``DistributedNotificationError/Reason/full``.
    ///
    /// > Thread safety: any task.
    @discardableResult
    public func post(
        _ name: String, sender: String? = nil, payload: [UInt8] = [], deliverImmediately: Bool = false,
        until milestone: Milestone, before deadline: ContinuousClock.Instant? = nil
    ) async throws(DistributedNotificationError) -> UInt64 {
        Fork.check("DistributedNotificationCenter.post")
        let topic = try topic(name, sender, payload)
        let end = deadline.map { Moment($0) } ?? .never
        while true {
            let posted = try state.post(
                topic, payload, isImmediate: deliverImmediately, dropsOldest: false, waits: true,
                until: milestone)
            switch posted {
            case .waits(let room):
                if let error = await room.value(
                    before: end, timedOut: DistributedNotificationError(.timedOut),
                    cancelled: DistributedNotificationError(.cancelled), {})
                {
                    state.stopWaiting(for: room)
                    throw error
                }
            case .taken(let number, let stage):
                let error = await stage?.value(
                    before: end, timedOut: DistributedNotificationError(.timedOut),
                    cancelled: DistributedNotificationError(.cancelled)
                ) {}
                if let stage, let error = error ?? nil {
                    state.stopWaiting(for: stage)
                    throw error
                }
                return number
            }
        }
    }

    private func topic(
        _ name: String, _ sender: String?, _ payload: [UInt8]
    ) throws(DistributedNotificationError) -> Topic {
        if name.isEmpty { throw DistributedNotificationError(.malformed, details: "the name is empty") }
        for text in [name, sender ?? ""] where text.utf8.count > 255 {
            throw DistributedNotificationError(
                .malformed, details: "\"\(text)\" has \(text.utf8.count) bytes, more than 255")
        }
        if payload.count > options.payloadLimit { throw .tooLarge(limit: options.payloadLimit) }
        return Topic(name: name, sender: sender)
    }
}

internal import DequeModule

/// The events that wait for one observer, including gaps for notifications dropped because of the observer's own limits.
///
/// A pure value.
struct EventQueue: Sendable {
    private struct Key: Hashable, Sendable {
        let poster: PosterID
        let topic: Topic
    }

    /// Gaps for dropped notifications: one gap for each poster and topic.
    ///
    /// A gap comes before another gap if its first notification was dropped earlier. One more gap, the last one, stands for all
    /// posters and topics beyond ``EventQueue/mostGaps``.
    private struct Losses: Sendable {
        private var gaps: [Key: (gap: DistributedNotificationGap, serial: UInt64)] = [:]
        private var order = SerialList<Key>()
        private var lastSerial: UInt64 = 0
        private var others: DistributedNotificationGap?

        var isEmpty: Bool { order.isEmpty && others == nil }

        mutating func add(_ post: Post, _ reason: DistributedNotificationGap.Reason) {
            let key = Key(poster: post.poster, topic: post.topic)
            let known = gaps[key]
            if known == nil {
                if gaps.count >= EventQueue.mostGaps {
                    others = others ?? .ofAnyPoster(reason)
                    return
                }
                lastSerial += 1
                order.append(key, serial: lastSerial)
            }
            let gap = DistributedNotificationGap(
                poster: .init(post.poster), name: post.topic.name, sender: post.topic.sender,
                from: known?.gap.from ?? post.number, to: post.number, reason: known?.gap.reason ?? reason,
                isCertain: true)
            gaps[key] = (gap, known?.serial ?? lastSerial)
        }

        mutating func takeFirst() -> DistributedNotificationGap? {
            if let first = order.first { take(first.element) } else { others.take() }
        }

        mutating func take(_ key: Key) -> DistributedNotificationGap? {
            // The key is removed from the order, too, so that its next gap comes after the present gaps of other keys.
            guard let (gap, serial) = gaps.removeValue(forKey: key) else { return nil }
            order.remove(serial)
            return gap
        }
    }

    /// The number of gaps beyond which further gaps are merged: how many there are depends on other processes, and a search among
    /// them must not take long.
    static let mostGaps = 256

    private let capacity: DistributedNotificationCenter.Capacity.Kind
    private let behavior: DistributedNotificationCenter.SuspensionBehavior
    private let mostHeld: Int
    /// True while the center is suspended.
    private(set) var isSuspended = false

    /// The gaps to deliver before the first of `entries`.
    private var leading = Losses()
    private var entries = Deque<DistributedNotificationEvent>()
    /// The number of gaps in `entries`.
    private var gapCount = 0
    /// The gaps to deliver after the last of `entries`.
    private var trailing = Losses()
    /// The number of entries that were removed from the front of `entries` so far.
    private var head = 0
    /// The sequence number below which entries are delivered even while the center is suspended.
    ///
    /// The sequence number of an entry is its index in `entries` plus `head`. When an entry is dropped,
    /// the sequence numbers of the later entries decrease by one.
    private var released = 0
    /// For each poster and topic, the sequence number of the waiting entry that their next notification replaces.
    private var mergeable: [Key: Int] = [:]
    /// The number of notifications that wait.
    private(set) var count = 0
    /// The number of notifications that were dropped so far, because of the capacity or a suspension.
    private(set) var droppedCount = 0

    init(
        _ capacity: DistributedNotificationCenter.Capacity,
        _ behavior: DistributedNotificationCenter.SuspensionBehavior,
        mostHeld: Int
    ) {
        self.capacity = capacity.kind
        self.behavior = behavior
        self.mostHeld = mostHeld
    }

    /// True if ``next()`` returns an event.
    var hasNext: Bool {
        if holdsBack { return head < released && (!leading.isEmpty || !entries.isEmpty) }
        return !leading.isEmpty || !entries.isEmpty || !trailing.isEmpty
    }

    private var holdsBack: Bool { isSuspended && behavior != .deliverImmediately }

    /// Suspends or resumes the delivery of events.
    mutating func suspend(_ suspends: Bool) { isSuspended = suspends }

    // MARK: - Appending

    /// Appends an event, or drops or merges notifications as the observer's limits require.
    mutating func append(_ event: Follower.Event) {
        switch event {
        case .gap(let gap):
            // Gaps for notifications that were dropped before this event come first.
            while let lost = trailing.takeFirst() { append(lost) }
            append(gap)
            mergeable = [:]
        case .notification(let post):
            if holdsBack && !post.isImmediate { appendHeld(post) } else { appendNow(post) }
            if holdsBack && post.isImmediate { released = head + entries.count }
        }
    }

    private mutating func appendNow(_ post: Post) {
        switch capacity {
        case .unlimited: append(post)
        case .coalescing: merge(post)
        case .bounded(let most, let policy):
            if count < most { return append(post) }
            switch policy {
            case .dropNewest: drop(post, .observerBehind)
            case .dropOldest:
                dropOldest(.observerBehind)
                append(post)
            }
        }
    }

    private mutating func appendHeld(_ post: Post) {
        switch behavior {
        case .drop: drop(post, .suspended)
        case .coalesce: merge(post)
        case .hold, .deliverImmediately:
            if capacity == .coalescing { return merge(post) }
            if count >= mostHeld { dropOldest(.suspended) }
            append(post)
        }
    }

    private mutating func append(_ gap: DistributedNotificationGap) {
        if gapCount < EventQueue.mostGaps {
            entries.append(.gap(gap))
        } else {
            if case .gap(let last)? = entries.last, last.isOfAnyPoster { return }
            entries.append(.gap(.ofAnyPoster(gap.reason)))
        }
        gapCount += 1
    }

    private mutating func append(_ post: Post) {
        let key = Key(poster: post.poster, topic: post.topic)
        if let lost = trailing.take(key) { append(lost) }
        entries.append(.notification(DistributedNotification(post)))
        count += 1
    }

    /// Appends a notification, or replaces a waiting notification of the same poster and topic.
    private mutating func merge(_ post: Post) {
        let key = Key(poster: post.poster, topic: post.topic)
        if let place = mergeable[key], place >= head, case .notification(let waiting) = entries[place - head]
        {
            var merged = DistributedNotification(post)
            merged.mergedCount = waiting.mergedCount + 1
            entries[place - head] = .notification(merged)
            return
        }
        append(post)
        mergeable[key] = head + entries.count - 1
    }

    private mutating func drop(_ post: Post, _ reason: DistributedNotificationGap.Reason) {
        trailing.add(post, reason)
        droppedCount += 1
    }

    private mutating func dropOldest(_ reason: DistributedNotificationGap.Reason) {
        guard let index = entries.firstIndex(where: { if case .notification = $0 { true } else { false } })
        else {
            return
        }
        guard case .notification(let oldest) = entries.remove(at: index) else { return }
        // The sequence numbers of the later entries have changed, so those in `mergeable` are no longer valid.
        mergeable = mergeable.filter { $0.value < head + index }
        if released > head + index { released -= 1 }
        if index == 0 {
            leading.add(oldest.post, reason)
        } else {
            // The new gap takes the place of the dropped notification, so gaps that the engine reported before it stay before it.
            var losses = Losses()
            losses.add(oldest.post, reason)
            if let gap = losses.takeFirst() { insert(gap, at: index) }
        }
        count -= 1
        droppedCount += 1
    }

    /// Inserts a gap at an index, or extends an earlier gap instead.
    ///
    /// The method looks for the last earlier gap of the same poster and topic. If that gap has the same reason, it is extended.
    private mutating func insert(_ gap: DistributedNotificationGap, at index: Int) {
        if gapCount >= EventQueue.mostGaps {
            if case .gap(let last) = entries[index - 1], last.isOfAnyPoster { return }
            return insert(.gap(.ofAnyPoster(gap.reason)), at: index)
        }
        for place in (0..<index).reversed() {
            guard case .gap(let known) = entries[place], known.poster == gap.poster else { continue }
            let isOfTopic = known.name == gap.name && known.sender == gap.sender
            if isOfTopic && known.reason == gap.reason && known.isCertain && known.to != nil {
                entries[place] = .gap(
                    DistributedNotificationGap(
                        poster: gap.poster, name: gap.name, sender: gap.sender, from: known.from, to: gap.to,
                        reason: gap.reason, isCertain: true))
                return
            }
            // The numbers of `known` lie between those of the new gap and of any earlier one, so an earlier one cannot be extended.
            if isOfTopic || known.name == nil { break }
        }
        insert(.gap(gap), at: index)
    }

    private mutating func insert(_ event: DistributedNotificationEvent, at index: Int) {
        entries.insert(event, at: index)
        gapCount += 1
        if released > head + index { released += 1 }
    }

    // MARK: - Taking

    /// Removes and returns the next event; nil if there is none, or if the event is held because the center is suspended.
    mutating func next() -> DistributedNotificationEvent? {
        if !hasNext { return nil }
        if let lost = leading.takeFirst() { return .gap(lost) }
        guard let first = entries.popFirst() else { return trailing.takeFirst().map { .gap($0) } }
        head += 1
        switch first {
        case .gap: gapCount -= 1
        case .notification(let notification):
            count -= 1
            if !mergeable.isEmpty { forget(notification.post) }
        }
        return first
    }

    private mutating func forget(_ post: Post) {
        let key = Key(poster: post.poster, topic: post.topic)
        if let place = mergeable[key], place < head { mergeable[key] = nil }
    }
}

extension DistributedNotificationGap {
    /// The gap that stands for posts of posters that are not named.
    static func ofAnyPoster(_ reason: Reason) -> DistributedNotificationGap {
        DistributedNotificationGap(
            poster: .init(.unknown), name: nil, sender: nil, from: 1, to: nil, reason: reason,
            isCertain: false)
    }

    var isOfAnyPoster: Bool { poster == .unknown && name == nil && to == nil }
}

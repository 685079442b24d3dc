internal import DequeModule

/// The account of the posts that one observer has received or missed.
///
/// For each poster and topic, the account holds a number. Each post up to that number was delivered, was reported in a gap, or is
/// older than the subscription. The account converts the events of an engine into the events of the observer.
///
/// A pure value.
struct Follower: Hashable, Sendable {
    /// An event for the observer.
    enum Event: Hashable, Sendable {
        case notification(Post)
        case gap(DistributedNotificationGap)
    }

    struct Account: Hashable, Sendable {
        /// The number up to which posts are neither delivered nor reported in a gap, whatever their topic.
        var floor: UInt64 = 0
        var topics: [Topic: UInt64] = [:]
        /// True if the poster has ended, or is treated as ended because it has not connected again.
        var hasEnded = false

        func last(_ topic: Topic) -> UInt64 { max(floor, topics[topic] ?? 0) }
        var last: UInt64 { topics.values.reduce(floor, max) }

        /// Records that a post of the poster has arrived.
        ///
        /// - Returns: `isNew` is true if the post is new, and `isTopicNew` if it is the first one of its topic. `missingFrom` is
        ///   the number of the first missing post before it, or nil if no post is missing.
        mutating func take(
            _ post: Post, hasBegun: Bool
        ) -> (isNew: Bool, isTopicNew: Bool, missingFrom: UInt64?) {
            let place = topics.index(forKey: post.topic)
            var last = max(floor, place.map { topics.values[$0] } ?? 0)
            // A new subscription did not ask for posts of the topic before the first one that it gets, so those are not missing.
            if !hasBegun && place == nil { last = max(last, post.previous) }
            if post.number <= last { return (false, false, nil) }
            if let place { topics.values[place] = post.number } else { topics[post.topic] = post.number }
            // A poster that posts has not ended, even if it was treated as ended.
            hasEnded = false
            return (true, place == nil, post.previous > last ? last + 1 : nil)
        }
    }

    private struct Beginning: Hashable, Sendable {
        let epoch: Epoch
        let time: Int64
    }

    /// The maximum number of ended posters for which an account is kept.
    ///
    /// The accounts are needed because an engine can still have posts of ended posters.
    static let mostEnded = 1_024

    /// The subscription that the center requests on the next connection.
    ///
    /// Its ``Subscription/start`` is updated after each post that arrives, and after the last baseline of each connection.
    private(set) var subscription: Subscription
    /// The epoch in which the subscription began, and the time at which it began; nil if it has not begun.
    private var beginning: Beginning?
    var accounts: [PosterID: Account] = [:]
    /// The ended posters for which an account is kept, in the order in which they ended.
    var ended = Deque<PosterID>()

    /// True if accounts were forgotten; see ``forget(_:)``.
    var hasForgotten = false
    /// The number of bytes that the accounts take.
    var bytes = 0
    /// The part of ``bytes`` that the topics take.
    var topicBytes = 0

    /// True once the subscription's last ``Baseline`` on this connection has arrived.
    private var isChecked = false
    /// The ends of posters that were reported before the last baseline; they are processed after that baseline.
    private var waitingEnds: [WaitingEnd] = []

    private struct WaitingEnd: Hashable, Sendable {
        let end: PosterEnd
        let epoch: Epoch
        /// True if the report arrived before the subscription began; such a report causes no gap.
        let isOld: Bool
    }

    init(_ subscription: Subscription) { self.subscription = subscription }

    /// True once the subscription is confirmed.
    var hasBegun: Bool { beginning != nil }

    /// Notes that a connection begins.
    mutating func connect() { isChecked = false }

    // MARK: - Posts

    /// Processes a post.
    ///
    /// - Parameters:
    ///   - delivered: The post, which may be of any topic.
    ///   - epoch: The epoch of the connection.
    ///   - emit: Called with each event for the observer.
    mutating func take(_ delivered: EngineBatch.Delivered, in epoch: Epoch, _ emit: (Event) -> Void) {
        let post = delivered.post
        guard subscription.matches(post.topic) else { return }
        // Until the baseline has arrived, a post for all subscriptions is skipped: it is also among the earlier posts that this
        // subscription asked for.
        if delivered.subscription.map({ $0 != subscription.number }) ?? !isChecked { return }
        subscription.start = .after(delivered.position, epoch)
        let isKnown = hasBegun && !mayBeForgotten(post.poster)
        let taken = change(post.poster) { $0.take(post, hasBegun: isKnown) }
        if taken.isTopicNew { count(post.topic) }
        if let from = taken.missingFrom {
            emit(gap(post.poster, post.topic, from: from, to: post.previous, .notKept))
        }
        if taken.isNew { emit(.notification(post)) }
    }

    /// Processes a horizon.
    ///
    /// `isForAll` is false if the engine has sent the horizon to this subscription only.
    mutating func take(
        _ horizon: Horizon, isForAll: Bool = true, in epoch: Epoch, _ emit: (Event) -> Void
    ) {
        guard hasBegun, isChecked || !isForAll, subscription.matches(horizon.topic) else { return }
        let last = accounts[horizon.poster]?.last(horizon.topic) ?? 0
        if horizon.number <= last { return }
        // A post that is older than the subscription is no loss.
        let isOld = isOld(horizon.time) || horizon.isBase && beginning?.epoch == epoch
        if !isOld && mayBeForgotten(horizon.poster) {
            emit(.gap(.ofAnyPoster(horizon.reason)))
        } else if !isOld {
            emit(gap(horizon.poster, horizon.topic, from: last + 1, to: horizon.number, horizon.reason))
        }
        note(horizon.poster, horizon.topic, horizon.number)
    }

    /// Returns true if the subscription began after `time`, by the clock that the posters and the observer share.
    private func isOld(_ time: Int64) -> Bool { beginning.map { time < $0.time } ?? false }

    // MARK: - Baselines

    /// Processes a baseline of the subscription.
    ///
    /// The subscription begins with its first baseline. On a later connection, a baseline shows which posts are missing.
    ///
    /// - Parameters:
    ///   - baseline: The baseline.
    ///   - epoch: The epoch of the connection.
    ///   - time: The time by the clock that the posters share; the lowest value if they share no clock.
    ///   - emit: Called with each event for the observer.
    mutating func take(
        _ baseline: Baseline, in epoch: Epoch, at time: Int64, _ emit: (Event) -> Void
    ) {
        guard baseline.subscription == subscription.number else { return }
        var isInDoubt = baseline.hasForgotten
        for mark in baseline.marks {
            if mayBeForgotten(mark.poster) {
                // Posts up to the mark were delivered before the poster was forgotten, or are missing.
                isInDoubt = true
                change(mark.poster) { $0.floor = max(mark.number, mark.base) }
                continue
            }
            let account = accounts[mark.poster] ?? Account()
            if let topic = mark.topic {
                let last = account.last(topic)
                let known = isOld(mark.baseTime) ? max(last, mark.base) : last
                // If the subscription has begun, or posts of the topic have arrived before, a higher number means a loss.
                if mark.number > known && (hasBegun || account.topics[topic] != nil) {
                    emit(gap(mark.poster, topic, from: known + 1, to: mark.number, .notKept))
                }
                if max(known, mark.number) > last { note(mark.poster, topic, max(known, mark.number)) }
            } else {
                if hasBegun, mark.number > account.last {
                    emit(
                        gap(
                            mark.poster, nil, from: account.last + 1, to: mark.number, .notKept,
                            isCertain: false))
                }
                change(mark.poster) { $0.floor = max($0.floor, mark.number) }
            }
        }
        if isInDoubt && hasBegun { emit(.gap(.ofAnyPoster(.notKept))) }
        if baseline.isLast {
            if beginning == nil { beginning = Beginning(epoch: epoch, time: time) }
            subscription.start = .after(baseline.position, epoch)
            isChecked = true
            for waiting in waitingEnds {
                if waiting.isOld {
                    if waiting.end.poster != .unknown { forget(waiting.end.poster) }
                } else {
                    take(waiting.end, in: waiting.epoch, checkedIn: epoch, emit)
                }
            }
            waitingEnds = []
        }
    }

    // MARK: - Ends

    /// Processes the end of a poster.
    ///
    /// Before the last baseline arrives, posts of the poster can still arrive. So if the end is reported during that time, it is
    /// stored, and processed after that baseline.
    mutating func take(_ end: PosterEnd, in epoch: Epoch, _ emit: (Event) -> Void) {
        if isChecked { return take(end, in: epoch, checkedIn: epoch, emit) }
        let isFull = waitingEnds.count >= Follower.mostEnded
        if isFull && waitingEnds.last?.end.poster == .unknown { return }
        waitingEnds.append(WaitingEnd(end: isFull ? .unknown : end, epoch: epoch, isOld: !hasBegun))
    }

    private mutating func take(
        _ end: PosterEnd, in epoch: Epoch, checkedIn checked: Epoch, _ emit: (Event) -> Void
    ) {
        // The report stands for posters that are not named, and each such report for others.
        if end.poster == .unknown {
            return emit(.gap(.ofAnyPoster(.posterEnded)))
        }
        if accounts[end.poster]?.hasEnded == true { return }
        // Posts that were accepted in another epoch cannot be delivered in this one.
        let accepted = epoch == checked ? end.accepted : 0
        if let last = end.last, last <= accepted { return forget(end.poster) }
        lose(end.poster, after: accepted, to: end.last, emit)
    }

    /// Treats a poster as ended, because it was known before this connection and has not connected within the grace period.
    mutating func giveUp(_ poster: PosterID, _ emit: (Event) -> Void) {
        if !hasBegun { return }
        if poster == .unknown { return emit(.gap(.ofAnyPoster(.posterEnded))) }
        if accounts[poster]?.hasEnded != true { lose(poster, after: 0, to: nil, emit) }
    }

    /// Emits gaps for the missing posts of an ended poster, except for posts that an earlier gap has reported.
    private mutating func lose(
        _ poster: PosterID, after accepted: UInt64, to end: UInt64?, _ emit: (Event) -> Void
    ) {
        if accepted == 0 && mayBeForgotten(poster) {
            emit(.gap(.ofAnyPoster(.posterEnded)))
            return forget(poster)
        }
        let account = accounts[poster] ?? Account()
        // A lost post above `newest` can be of any topic. A lost post below it can only be of a topic whose last number is lower.
        let newest = max(accepted, account.last)
        for topic in account.topics.keys.sorted() where max(accepted, account.last(topic)) < account.last {
            let from = max(accepted, account.last(topic)) + 1
            emit(gap(poster, topic, from: from, to: account.last, .posterEnded, isCertain: false))
        }
        if end.map({ $0 > newest }) ?? true {
            emit(gap(poster, nil, from: newest + 1, to: end, .posterEnded, isCertain: false))
        }
        forget(poster)
    }

    private mutating func forget(_ poster: PosterID) {
        change(poster) { $0.hasEnded = true }
        ended.append(poster)
        if ended.count <= Follower.mostEnded { return }
        let oldest = ended.removeFirst()
        if accounts[oldest]?.hasEnded == true { removeAccount(of: oldest) }
    }

    private func gap(
        _ poster: PosterID, _ topic: Topic?, from: UInt64, to: UInt64?,
        _ reason: DistributedNotificationGap.Reason, isCertain: Bool = true
    ) -> Event {
        .gap(
            DistributedNotificationGap(
                poster: .init(poster), name: topic?.name, sender: topic?.sender, from: from, to: to,
                reason: reason, isCertain: isCertain))
    }
}

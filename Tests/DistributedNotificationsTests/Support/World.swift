import TestSupport

@testable import DistributedNotifications

/// A poster, a hub and an observer, with the channels between them, in which everything happens in any order.
///
/// The three are the values that the program uses. A defect changes what passes between them.
struct World: Hashable {
    /// A defect of the protocol, which the walks must find.
    enum Defect: CaseIterable {
        /// `previous` is the last number of the poster instead of the last one of the topic.
        case numbering
        /// An accepted post counts as settled.
        case acknowledging
        /// Nothing is sent again after a connection.
        case resending
        /// The observer keeps no account of what it has got.
        case deduplicating
        /// Baselines say nothing of what the observer should have by now.
        case trimDetection
        /// A post that finds no room makes no gap.
        case overflow
        /// A poster says nothing of what it has dropped.
        case dropping
        /// Nobody tells of a poster that was killed.
        case ends
        /// A poster that is not heard of again is forgotten in silence.
        case doubt
        /// The hub tells nobody who joins of the posters that have ended.
        case tombstones
        /// The hub keeps no posts for observers that come back.
        case ring
        /// Posts that are older than a subscription count as lost.
        case bases
        /// Posts that are younger than a subscription count as older.
        case clock
        /// The hub says nothing of the ended posters that it has forgotten.
        case forgetting
    }

    struct Faults: Hashable {
        var hubCrashes = 1
        var kills = 1
        var cuts = 1
        /// The number of times that another hub accepts and settles all posts, for other observers.
        var others = 0
        /// The number of times that the hub forgets a poster that is still running.
        var givenUp = 0
    }

    enum ToHub: Hashable {
        case announce(Announcement)
        case post(Post)
    }

    struct Acknowledgement: Hashable {
        let accepted: UInt64
        let settled: UInt64
    }

    let defect: Defect?
    var left: Faults
    let topics: [Topic]
    var limits: Hub.Limits

    // The poster.
    var log: PosterLog
    var posterLives = true
    var posterLink: UInt64?
    var toHub: [ToHub] = []
    var toPoster: [Acknowledgement] = []
    // The hub.
    var hub: Hub?
    var epochs: UInt64 = 0
    var links: UInt64 = 0
    // The observer.
    var follower = Follower(Subscription(number: 1, name: "A", sender: nil, start: .now))
    var known = KnownPosters()
    var observerLink: UInt64?
    var observerEpoch: Epoch?
    var toObserver: [EngineBatch] = []
    var confirmations: [UInt64] = []

    /// True if the hub had something to send when it was asked last.
    var hasSent = false

    // The records that the checks read.
    var posted: [Post] = []
    var delivered: [UInt64] = []
    var gaps: [DistributedNotificationGap] = []
    var begunAfter: UInt64?
    /// The posts whose loss may be told even if they are older than the subscription, as far as the observer knows.
    ///
    /// A hub has accepted them since the observer subscribed, or their poster has dropped them.
    var offered: Set<UInt64> = []
    /// True once the observer has heard of the poster.
    var everKnown = false
    var faultsSeen = 0
    var failure: String?

    static let observerID = PosterID(high: 0, low: 1)
    static let posterID = PosterID(high: 0, low: 2)

    init(topics: String, kept: Int, queue: Int, ring: Int, faults: Faults, defect: Defect? = nil) {
        self.defect = defect
        left = faults
        self.topics = topics.map { Topic(name: String($0), sender: nil) }
        limits = Hub.Limits()
        limits.queuedPosts = queue
        limits.ringPosts = ring
        if faults.givenUp > 0 { limits.tombstones = 0 }
        log = PosterLog(World.posterID, .init(posts: kept, bytes: .max, topics: 8))
    }

    // MARK: - Steps

    mutating func post() {
        let topic = topics[posted.count]
        let (before, time) = (log.lastNumber, Int64(posted.count))
        guard
            case .taken(let number, let dropped) = log.add(
                topic, payload: [], at: 2 * time, dropsOldest: true)
        else {
            return fail("a post was refused")
        }
        offered.formUnion(dropped)
        if number != before + 1 { fail("the numbers do not follow one another") }
        posted.append(Post(poster: World.posterID, number: number, previous: 0, topic: topic))
    }

    mutating func startHub() {
        epochs += 1
        var limits = limits
        if defect == .ring { limits.ringPosts = 0 }
        hub = Hub(Epoch(high: 0, low: epochs), limits)
        toPoster = []
    }

    mutating func connectPoster() {
        links += 1
        posterLink = links
        _ = hub?.open(links, poster: World.posterID)
        toPoster = []
        var opening = log.connect(sharesClock: true)
        if defect == .dropping {
            opening = Announcement(horizons: [], number: opening.number, isOpening: true)
        }
        if defect == .bases || defect == .clock {
            opening = Announcement(
                horizons: opening.horizons.map {
                    Horizon(
                        poster: $0.poster, topic: $0.topic, number: $0.number,
                        time: defect == .clock ? .min : .max, reason: $0.reason)
                }, number: opening.number, isOpening: true)
        }
        if defect == .resending, let last = log.retained.last?.number { log.handedOver(last) }
        toHub = [.announce(opening)]
    }

    mutating func send() {
        if let announcement = log.takeAnnouncement() {
            if defect != .dropping { toHub.append(.announce(announcement)) }
        } else if let next = log.next {
            var sent = next
            if defect == .numbering {
                sent = Post(
                    poster: next.poster, number: next.number, previous: next.number - 1, topic: next.topic)
            }
            log.handedOver(next.number)
            toHub.append(.post(sent))
        }
    }

    mutating func hubReads() {
        guard let first = toHub.first else { return }
        toHub.removeFirst()
        guard let link = hub?.posters[World.posterID]?.connection ?? posterLink else { return }
        do {
            switch first {
            case .announce(let announcement): try hub?.announce(announcement, from: link)
            case .post(let post):
                try hub?.publish(post, from: link)
                if observerEpoch != nil { offered.insert(post.number) }
            }
        } catch { fail("violation: \(error)") }
        // A poster's end of the connection, of which the hub has read everything.
        if posterLink == nil && toHub.isEmpty { hub?.close(link) }
    }

    mutating func hubNotices() {
        let accepted = hub?.posters[World.posterID]?.accepted
        hub?.end(World.posterID, last: defect == .ends ? accepted : log.lastNumber)
    }

    mutating func hubSends() {
        hasSent = false
        hub?.acknowledgePatient()
        for link in [posterLink, observerLink] {
            guard let link, let output = hub?.next(for: link) else { continue }
            hasSent = true
            switch output {
            case .acknowledged(let accepted, let settled):
                if link == posterLink {
                    toPoster.append(
                        .init(accepted: accepted, settled: defect == .acknowledging ? accepted : settled))
                }
            case .batch(let batch): if link == observerLink { toObserver.append(batch) }
            }
        }
    }

    mutating func hubConfirms() {
        guard let link = observerLink, let batch = confirmations.first else { return }
        confirmations.removeFirst()
        do { try hub?.confirm(batch, credits: 1, from: link) } catch { fail("violation: \(error)") }
    }

    mutating func posterReads() {
        let read = toPoster.removeFirst()
        _ = log.acknowledge(accepted: read.accepted, settled: read.settled)
    }

    mutating func connectObserver() {
        guard let epoch = hub?.epoch else { return }
        links += 1
        observerLink = links
        observerEpoch = epoch
        toObserver = []
        confirmations = []
        follower.connect()
        _ = hub?.open(links, poster: World.observerID)
        do {
            try hub?.announce(Announcement(horizons: [], number: 0, isOpening: true), from: links)
            for poster in known.connect() { hub?.locate(poster, from: links) }
            try hub?.subscribe(follower.subscription, from: links)
            try hub?.confirm(0, credits: 1, from: links)
        } catch { fail("violation: \(error)") }
        if defect == .tombstones {
            hub?.connections[links]?.queue.removeItems { if case .ended = $0 { true } else { false } }
        }
    }

    mutating func observerReads() {
        guard let epoch = observerEpoch else { return }
        let batch = toObserver.removeFirst()
        for item in batch.items { take(item, epoch) }
        if hub?.epoch == epoch && observerLink != nil { confirmations.append(batch.number) }
    }

    private mutating func take(_ item: EngineBatch.Item, _ epoch: Epoch) {
        var events: [Follower.Event] = []
        if defect == .deduplicating, follower.hasBegun {
            if case .post(let delivered) = item { return record([.notification(delivered.post)]) }
        }
        switch item {
        case .post(let delivered):
            known.note(delivered.post.poster)
            follower.take(delivered, in: epoch) { events.append($0) }
        case .horizon(let horizon, _):
            if defect == .overflow && horizon.reason == .processBehind { return }
            follower.take(horizon, in: epoch) { events.append($0) }
        case .baseline(let baseline):
            let begins = !follower.hasBegun
            let marks = defect == .trimDetection && !begins ? [] : baseline.marks
            follower.take(
                Baseline(
                    subscription: 1, marks: marks, position: baseline.position, isLast: baseline.isLast,
                    hasForgotten: defect != .forgetting && baseline.hasForgotten),
                // Between the times of the posts so far, and those of later ones.
                in: epoch, at: 2 * Int64(posted.count) - 1
            ) { events.append($0) }
            if begins && follower.hasBegun { begunAfter = log.lastNumber }
        case .present(let poster): known.note(poster)
        case .ended(let end, _):
            known.end(end.poster)
            follower.take(end, in: epoch) { events.append($0) }
        }
        if known.known.contains(World.posterID) { everKnown = true }
        record(events)
    }

    mutating func fail(_ reason: String) { if failure == nil { failure = reason } }
}

import TestSupport

@testable import DistributedNotifications

/// A poster, a hub and an observer, with the channels between them, in which everything happens in the order that a seed says.
///
/// The three are the values that the program uses. A defect changes what passes between them.
struct World {
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
    }

    struct Faults {
        var hubCrashes = 1
        var kills = 1
        var cuts = 1
    }

    enum ToHub {
        case announce(Announcement)
        case post(Post)
    }

    var rng: SplitMix64
    let defect: Defect?
    var left: Faults
    let topics: [Topic]
    var limits: Hub.Limits

    // The poster.
    var log: PosterLog
    var posterLives = true
    var posterLink: UInt64?
    var toHub: [ToHub] = []
    var toPoster: [(UInt64, UInt64)] = []
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

    // What is checked.
    var posted: [Post] = []
    var delivered: [UInt64] = []
    var gaps: [DistributedNotificationGap] = []
    var begunAfter: UInt64?
    /// True once the observer has heard of the poster.
    var everKnown = false
    var faultsSeen = 0
    var failure: String?
    var trace: [String] = []

    static let observerID = PosterID(high: 0, low: 1)
    static let posterID = PosterID(high: 0, low: 2)

    init(seed: UInt64, topics: String, kept: Int, queue: Int, ring: Int, faults: Faults, defect: Defect?) {
        rng = SplitMix64(seed: seed)
        self.defect = defect
        left = faults
        self.topics = topics.map { Topic(name: String($0), sender: nil) }
        limits = Hub.Limits()
        limits.queuedPosts = queue
        limits.ringPosts = ring
        log = PosterLog(World.posterID, .init(posts: kept, bytes: .max, topics: 8))
    }

    // MARK: - Steps

    typealias Step = (name: String, weight: Int, run: (inout World) -> Void)

    /// The steps that are possible now.
    func steps(withFaults: Bool) -> [Step] {
        var steps: [Step] = []
        if posterLives && posted.count < topics.count { steps.append(("post", 3, { $0.post() })) }
        if hub == nil { steps.append(("hub", 3, { $0.startHub() })) }
        if let hub {
            if posterLives && posterLink == nil && toHub.isEmpty {
                steps.append(("poster connects", 3, { $0.connectPoster() }))
            }
            if observerLink == nil { steps.append(("observer connects", 3, { $0.connectObserver() })) }
            if posterLink != nil && posterLives && toHub.count < 3 && (log.next != nil || log.hasAnnouncement)
            {
                steps.append(("poster sends", 4, { $0.send() }))
            }
            if !toHub.isEmpty { steps.append(("hub reads", 4, { $0.hubReads() })) }
            if posterLink == nil && !posterLives && toHub.isEmpty && hub.posters[World.posterID] != nil {
                steps.append(("hub notices the end", 2, { $0.hubNotices() }))
            }
            if !hub.connections.isEmpty && toObserver.count < 2 {
                steps.append(("hub sends", 4, { $0.hubSends() }))
            }
            if !confirmations.isEmpty { steps.append(("hub reads a confirmation", 4, { $0.hubConfirms() })) }
        }
        if posterLives && !toPoster.isEmpty { steps.append(("poster reads", 4, { $0.posterReads() })) }
        if !toObserver.isEmpty { steps.append(("observer reads", 4, { $0.observerReads() })) }
        if withFaults {
            if hub != nil && left.hubCrashes > 0 { steps.append(("HUB CRASHES", 1, { $0.crashHub() })) }
            if posterLives && left.kills > 0 { steps.append(("POSTER KILLED", 1, { $0.killPoster() })) }
            if left.cuts > 0 && hub != nil && posterLink != nil && posterLives {
                steps.append(("POSTER CUT", 1, { $0.cutPoster() }))
            }
            if left.cuts > 0 && hub != nil && observerLink != nil {
                steps.append(("OBSERVER CUT", 1, { $0.cutObserver() }))
            }
        }
        return steps
    }

    mutating func post() {
        let topic = topics[posted.count]
        let before = log.lastNumber
        guard case .taken(let number, _) = log.add(topic, payload: [], dropsOldest: true) else {
            return fail("a post was refused")
        }
        if number != before + 1 { fail("the numbers do not follow one another") }
        posted.append(Post(poster: World.posterID, number: number, previous: 0, topic: topic))
    }

    mutating func startHub() {
        epochs += 1
        hub = Hub(Epoch(high: 0, low: epochs), limits)
        toPoster = []
    }

    mutating func connectPoster() {
        links += 1
        posterLink = links
        _ = hub?.open(links, poster: World.posterID)
        toPoster = []
        var opening = log.connect()
        if defect == .dropping {
            opening = Announcement(horizons: [], number: opening.number, isOpening: true)
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
            case .post(let post): try hub?.publish(post, from: link)
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
        for link in [posterLink, observerLink] {
            guard let link, let output = hub?.next(for: link) else { continue }
            hasSent = true
            switch output {
            case .acknowledged(let accepted, let settled):
                if link == posterLink {
                    toPoster.append((accepted, defect == .acknowledging ? accepted : settled))
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
        let (accepted, settled) = toPoster.removeFirst()
        _ = log.acknowledge(accepted: accepted, settled: settled)
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
            hub?.locate(known.connect(), from: links)
            try hub?.subscribe(follower.subscription, from: links)
            try hub?.confirm(0, credits: 1, from: links)
        } catch { fail("violation: \(error)") }
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
                Baseline(subscription: 1, marks: marks, position: baseline.position, isLast: baseline.isLast),
                in: epoch
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

    // MARK: - Faults

    mutating func crashHub() {
        left.hubCrashes -= 1
        faultsSeen += 1
        hub = nil
        posterLink = nil
        observerLink = nil
        toHub = []
        confirmations = []
        log.disconnect()
        // What the kernel has for the observer may still be read, or not.
        if Bool.random(using: &rng) { toObserver = [] }
    }

    mutating func killPoster() {
        left.kills -= 1
        faultsSeen += 1
        posterLives = false
        if let link = posterLink, toHub.isEmpty { hub?.close(link) }
        posterLink = nil
        toPoster = []
    }

    mutating func cutPoster() {
        left.cuts -= 1
        faultsSeen += 1
        toHub = Array(toHub.prefix(Int.random(in: 0...toHub.count, using: &rng)))
        if let link = posterLink, toHub.isEmpty { hub?.close(link) }
        posterLink = nil
        toPoster = []
        log.disconnect()
    }

    mutating func cutObserver() {
        left.cuts -= 1
        faultsSeen += 1
        if let link = observerLink { hub?.close(link) }
        observerLink = nil
        confirmations = []
        if Bool.random(using: &rng) { toObserver = [] }
    }

    mutating func fail(_ reason: String) { if failure == nil { failure = reason } }
}

@testable import DistributedNotifications

extension World {
    /// A step of the poster, the hub, the observer or a channel, or a fault.
    struct Step {
        let name: String
        /// The likelihood of the step in a walk.
        let weight: Int
        let run: (inout World) -> Void
        var isFault: Bool { weight == 1 }

        init(_ name: String, _ weight: Int, _ run: @escaping (inout World) -> Void) {
            (self.name, self.weight, self.run) = (name, weight, run)
        }
    }

    /// The steps that are possible now.
    func steps(withFaults: Bool) -> [Step] {
        var steps: [Step] = []
        if posterLives && posted.count < topics.count { steps.append(Step("post", 3, { $0.post() })) }
        if hub == nil { steps.append(Step("hub", 3, { $0.startHub() })) }
        if let hub {
            if posterLives && posterLink == nil && toHub.isEmpty {
                steps.append(Step("poster connects", 3, { $0.connectPoster() }))
            }
            if observerLink == nil { steps.append(Step("observer connects", 3, { $0.connectObserver() })) }
            if posterLink != nil && posterLives && toHub.count < 3 && (log.next != nil || !log.due.isEmpty) {
                steps.append(Step("poster sends", 4, { $0.send() }))
            }
            if !toHub.isEmpty { steps.append(Step("hub reads", 4, { $0.hubReads() })) }
            if posterLink == nil && !posterLives && toHub.isEmpty && hub.posters[World.posterID] != nil {
                steps.append(Step("hub notices the end", 2, { $0.hubNotices() }))
            }
            if !hub.connections.isEmpty && toObserver.count < 2 {
                steps.append(Step("hub sends", 4, { $0.hubSends() }))
            }
            if !confirmations.isEmpty {
                steps.append(Step("hub reads a confirmation", 4, { $0.hubConfirms() }))
            }
        }
        if posterLives && !toPoster.isEmpty { steps.append(Step("poster reads", 4, { $0.posterReads() })) }
        if !toObserver.isEmpty { steps.append(Step("observer reads", 4, { $0.observerReads() })) }
        if withFaults {
            // After a crash, the observer reads the bytes that the kernel still holds for it, or loses them.
            let keeps = toObserver.isEmpty ? [true] : [true, false]
            if hub != nil && left.hubCrashes > 0 {
                for keeps in keeps { steps.append(Step("HUB CRASHES", 1, { $0.crashHub(keeps) })) }
            }
            if posterLives && left.kills > 0 { steps.append(Step("POSTER KILLED", 1, { $0.killPoster() })) }
            if left.others > 0 && posterLives && posterLink == nil && !log.retained.isEmpty {
                steps.append(Step("OTHER HUB", 1, { $0.settleElsewhere() }))
            }
            if left.givenUp > 0 && posterLink == nil && toHub.isEmpty
                && hub?.posters[World.posterID] != nil
            {
                steps.append(Step("POSTER GIVEN UP", 1, { $0.giveUpPoster() }))
            }
            if left.cuts > 0 && hub != nil && posterLink != nil && posterLives {
                for count in 0...toHub.count {
                    steps.append(Step("POSTER CUT", 1, { $0.cutPoster(after: count) }))
                }
            }
            if left.cuts > 0 && hub != nil && observerLink != nil {
                for keeps in keeps { steps.append(Step("OBSERVER CUT", 1, { $0.cutObserver(keeps) })) }
            }
        }
        return steps
    }

    // MARK: - Faults

    mutating func crashHub(_ keeps: Bool) {
        left.hubCrashes -= 1
        faultsSeen += 1
        hub = nil
        posterLink = nil
        observerLink = nil
        toHub = []
        confirmations = []
        log.disconnect()
        if !keeps { toObserver = [] }
    }

    mutating func killPoster() {
        left.kills -= 1
        faultsSeen += 1
        posterLives = false
        if let link = posterLink, toHub.isEmpty { hub?.close(link) }
        posterLink = nil
        toPoster = []
    }

    mutating func settleElsewhere() {
        left.others -= 1
        faultsSeen += 2
        _ = log.connect(sharesClock: true)
        while let next = log.next { log.handedOver(next.number) }
        _ = log.acknowledge(accepted: log.lastNumber, settled: log.lastNumber)
        log.disconnect()
    }

    mutating func giveUpPoster() {
        left.givenUp -= 1
        faultsSeen += 2
        hub?.end(World.posterID, last: nil)
    }

    mutating func cutPoster(after count: Int) {
        left.cuts -= 1
        faultsSeen += 1
        toHub = Array(toHub.prefix(count))
        if let link = posterLink, toHub.isEmpty { hub?.close(link) }
        posterLink = nil
        toPoster = []
        log.disconnect()
    }

    mutating func cutObserver(_ keeps: Bool) {
        left.cuts -= 1
        faultsSeen += 1
        if let link = observerLink { hub?.close(link) }
        observerLink = nil
        confirmations = []
        if !keeps { toObserver = [] }
    }
}

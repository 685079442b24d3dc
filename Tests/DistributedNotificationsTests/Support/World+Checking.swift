import TestSupport

@testable import DistributedNotifications

extension World {
    /// Walks until nothing is left to do, in the order that a seed says, and checks the contract all the way.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - trace: The names of the steps.
    /// - Returns: The failure; nil if the contract holds.
    mutating func walk(seed: UInt64, _ trace: inout [String]) -> String? {
        var random = SplitMix64(seed: seed)
        var count = 0
        while failure == nil {
            let steps = steps(withFaults: count < 80)
            if steps.isEmpty || count > 400 { break }
            var chosen = Int.random(in: 0..<steps.reduce(0) { $0 + $1.weight }, using: &random)
            let isIdle = steps.allSatisfy { $0.name == "hub sends" }
            for step in steps {
                chosen -= step.weight
                if chosen >= 0 { continue }
                trace.append(step.name)
                step.run(&self)
                if isIdle && !hasSent { return atRest() }
                break
            }
            count += 1
        }
        return failure ?? "the walk does not come to rest"
    }

    /// Visits every state that can be reached, and checks the contract in each.
    func explore() -> Exploration<World> {
        Exploration(from: self) { world, walk in
            var isAtRest = true
            for step in world.steps(withFaults: true) {
                var next = world
                step.run(&next)
                let isIdle = step.name == "hub sends" && !next.hasSent
                if !step.isFault && !isIdle { isAtRest = false }
                next.hasSent = false
                if let failure = next.failure { walk.fail(failure) } else { walk.reach(next) }
            }
            var resting = world
            if isAtRest, let failure = resting.atRest() { walk.fail(failure) }
        }
    }

    /// Checks events of the observer.
    mutating func record(_ events: [Follower.Event]) {
        for event in events {
            switch event {
            case .gap(let gap):
                gaps.append(gap)
                let end = gap.to ?? .max
                // An open gap ends where the poster is heard from again.
                if gap.to != nil && delivered.contains(where: { gap.from <= $0 && $0 <= end }) {
                    fail("a gap over something delivered")
                }
                let owed = wanted.filter { $0 > begunAfter ?? 0 || offered.contains($0) }
                if gap.isCertain && !owed.contains(where: { gap.from <= $0 && $0 <= end }) {
                    fail("a gap without a loss")
                }
            case .notification(let post):
                if let last = delivered.last, last >= post.number { fail("out of order, or twice") }
                if gaps.contains(where: { gap in
                    gap.to.map { gap.from <= post.number && post.number <= $0 } ?? false
                }) {
                    fail("a delivery in a gap")
                }
                delivered.append(post.number)
                if let begunAfter {
                    for number in wanted
                    where number > begunAfter && number < post.number && !isAccounted(number) {
                        fail("\(post.number) is delivered, and \(number) is missing in silence")
                    }
                }
            }
        }
    }

    private var wanted: [UInt64] { posted.filter { $0.topic.name == "A" }.map(\.number) }

    private func isAccounted(_ number: UInt64) -> Bool {
        delivered.contains(number) || gaps.contains { $0.from <= number && number <= $0.to ?? .max }
    }

    /// Everything has come to rest: each post that was wanted is delivered, or is in a gap.
    private mutating func atRest() -> String? {
        if let failure { return failure }
        if !known.inDoubt.isEmpty {
            // The grace period.
            for poster in known.giveUp() where defect != .doubt {
                var events: [Follower.Event] = []
                follower.giveUp(poster) { events.append($0) }
                record(events)
            }
        }
        guard let begunAfter else { return follower.hasBegun ? nil : "the subscription never began" }
        // Outside the contract: a poster that ended before any engine told of it.
        if !posterLives && !everKnown { return failure }
        for number in wanted where number > begunAfter && !isAccounted(number) {
            return "at rest, \(number) is missing in silence"
        }
        if posterLives && !known.known.contains(World.posterID) { return "a living poster was given up" }
        if faultsSeen <= 1 && posterLives && !gaps.isEmpty && mayHaveNoGap {
            return "one fault alone has made a gap: \(gaps)"
        }
        return failure
    }

    /// True if nothing was dropped for lack of room.
    private var mayHaveNoGap: Bool {
        limits.queuedPosts >= topics.count && limits.ringPosts >= topics.count
            && log.limits.posts >= topics.count
    }
}

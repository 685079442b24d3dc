import TestSupport
import Testing

@testable import DistributedNotifications

/// The memory of an observer, which a hub and the posters could otherwise fill.
struct ObserverMemoryTests {
    private let epoch = Epoch(high: 0, low: 1)

    private func poster(_ number: Int) -> PosterID { PosterID(high: 7, low: UInt64(number)) }

    private func begun() -> Follower {
        var follower = Follower(Subscription(number: 1, name: nil, sender: nil, start: .now))
        follower.connect()
        let baseline = Baseline(subscription: 1, marks: [], position: Position(low: 0), isLast: true)
        follower.take(baseline, in: epoch, at: 0) { _ in }
        return follower
    }

    private func post(_ poster: PosterID, _ number: UInt64, after previous: UInt64, _ name: String)
        -> EngineBatch.Delivered
    {
        let post = Post(
            poster: poster, number: number, previous: previous, topic: Topic(name: name, sender: nil))
        return .init(post: post, position: Position(low: number))
    }

    @Test func `topics that are forgotten are one gap, and later losses are still told`() {
        var follower = begun()
        var events: [Follower.Event] = []
        let empty = follower.bytes
        for number: UInt64 in 1...100 {
            follower.take(post(poster(1), number, after: 0, "t\(number)"), in: epoch) { _ in }
        }
        let full = follower.bytes
        follower.forget { events.append($0) }
        #expect(empty == 0 && full > 100 * 96 && follower.bytes < 200)
        guard case .gap(let gap)? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(gap.poster == .unknown && gap.to == nil && !gap.isCertain)
        events = []
        // A hub that does not know what the observer has got sends the last post again.
        follower.take(post(poster(1), 100, after: 0, "t100"), in: epoch) { events.append($0) }
        #expect(events.isEmpty)
        // The next one follows a post that never arrived.
        follower.take(post(poster(1), 103, after: 102, "t5"), in: epoch) { events.append($0) }
        #expect(events.count == 2)
        if case .gap(let gap)? = events.first { #expect(gap.from == 101 && gap.to == 102 && gap.isCertain) }
        events = []
        follower.take(post(poster(1), 104, after: 103, "t5"), in: epoch) { events.append($0) }
        #expect(events.count == 1)
    }

    @Test func `posters that are forgotten are one gap, and no gap covers what was delivered`() {
        var follower = begun()
        var events: [Follower.Event] = []
        for number in 1...100 {
            follower.take(PosterEnd(poster: poster(number), accepted: 0, last: 0), in: epoch) { _ in }
        }
        for number in 1...100 { follower.take(post(poster(number), 9, after: 0, "a"), in: epoch) { _ in } }
        follower.forget { events.append($0) }
        follower.forget { events.append($0) }
        // First the topics go, and then the posters.
        #expect(events.count == 2 && follower.bytes == 0)
        events = []
        follower.take(post(poster(1), 10, after: 9, "a"), in: epoch) { events.append($0) }
        #expect(events == [.notification(post(poster(1), 10, after: 9, "a").post)])
        events = []
        let horizon = Horizon(
            poster: poster(2), topic: Topic(name: "a", sender: nil), number: 12, time: 1,
            reason: .processBehind)
        follower.take(horizon, in: epoch) { events.append($0) }
        follower.take(PosterEnd(poster: poster(3), accepted: 0, last: 20), in: epoch) { events.append($0) }
        follower.giveUp(poster(4)) { events.append($0) }
        let marks = [
            Baseline.Mark(
                poster: poster(5), topic: Topic(name: "a", sender: nil), number: 14, base: 0, baseTime: 0)
        ]
        follower.take(
            Baseline(subscription: 1, marks: marks, position: Position(low: 1), isLast: true), in: epoch,
            at: 0
        ) { events.append($0) }
        #expect(events.count == 4)
        for case .gap(let gap) in events {
            #expect(gap.poster == .unknown && gap.to == nil && !gap.isCertain)
        }
        events = []
        follower.take(post(poster(5), 17, after: 16, "a"), in: epoch) { events.append($0) }
        if case .gap(let gap)? = events.first { #expect(gap.from == 15 && gap.to == 16) }
        #expect(events.count == 2)
    }

    @Test func `ends before the baseline are bounded, and what they stand for is told`() {
        var follower = begun()
        follower.connect()
        var gaps = 0
        for number in 1...100_000 {
            follower.take(PosterEnd(poster: poster(number), accepted: 0, last: nil), in: epoch) { _ in
                gaps += 1
            }
        }
        #expect(gaps == 0)
        var unknown = 0
        follower.take(
            Baseline(subscription: 1, marks: [], position: Position(low: 0), isLast: true), in: epoch, at: 0
        ) { event in
            gaps += 1
            if case .gap(let gap) = event, gap.poster == .unknown { unknown += 1 }
        }
        #expect(gaps == Follower.mostEnded + 1 && unknown == 1)
    }

    @Test func `posters beyond a number are forgotten, and are in doubt together`() {
        var known = KnownPosters()
        var most = 0
        for number in 0..<40_000 {
            known.note(poster(number))
            most = max(most, known.known.count)
        }
        #expect(most == KnownPosters.most)
        let asked = known.connect()
        #expect(known.hasDoubts && asked.count <= KnownPosters.most)
        for poster in asked { known.note(poster) }
        // All that are known are there, and some that are not known may not be.
        #expect(known.hasDoubts && known.giveUp() == [.unknown] && !known.hasDoubts)
        _ = known.connect()
        let kept = known.known.prefix(3)
        for poster in known.known where !kept.contains(poster) { known.note(poster) }
        #expect(known.giveUp() == kept.sorted() && known.giveUp() == [])
        // Very many are given up as one.
        for number in 0...KnownPosters.mostGivenUp { known.note(poster(number)) }
        _ = known.connect()
        #expect(known.inDoubt.count > KnownPosters.mostGivenUp)
        #expect(known.giveUp() == [.unknown] && known.known.isEmpty)
    }
}

import Foundation
import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// Replies that no honest server sends, on their way to the observers.
@Suite struct HostileReplyTests {
    /// The number of seeds, each of which makes a few replies.
    private static let seeds =
        ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_REPLIES"].flatMap { UInt64($0) } ?? 1_000

    // Guarantees: No entry that another client adds ends the process.
    @Test func `whatever replies contain, no arithmetic behind them traps`() {
        var (events, refused) = (0, 0)
        for seed in 0..<Self.seeds {
            var replies = HostileReplies(random: SplitMix64(seed: seed))
            var reading = Reading(startsFresh: seed % 2 == 0)
            for number in 0..<6 {
                let wired = number < 4 ? replies.scan(isLast: number % 2 == 1) : replies.live()
                var random = SplitMix64(seed: seed)
                guard let reply = Wired.replies(in: wired.sent.cut(&random))?.first,
                    number < 4 ? reading.scan(reply.value) : reading.live(reply.value)
                else {
                    refused += 1
                    continue
                }
            }
            events += reading.events
        }
        // The replies are hostile, but not so much that they would not be read.
        #expect(events > Int(Self.seeds) / 4)
        #expect(refused > Int(Self.seeds) / 20)
    }

    @Test func `the end of a poster with the highest number is no entry of this library, and a lower one is`()
    {
        func content(_ fields: [String]) -> StreamEntry.Content? {
            let entry = Wired.array([.text("5-1"), .array(fields.map { .text($0) })])
            guard var reader = entry.value.flatMap({ EntryReader($0) }) else { return nil }
            return reader.step()?.content
        }
        let poster = PosterID(high: 1, low: 2)
        for (accepted, last) in [("18446744073709551615", "1"), ("9223372036854775808", "1"), ("-1", "1")] {
            #expect(content(["k", "e", "p", poster.text, "n", accepted, "l", last]) == .unknown)
        }
        #expect(
            content(["k", "e", "p", poster.text, "n", "9223372036854775807"])
                == .end(PosterEnd(poster: poster, accepted: UInt64(Int64.max), last: nil)))
    }

    /// What a session does with replies, without its sockets.
    private struct Reading {
        var memory = ReadingMemory()
        var scan: StreamScan
        var followers: [Follower]
        var queues: [EventQueue]
        var events = 0
        let epoch = Epoch(high: 0, low: 1)

        init(startsFresh: Bool) {
            let subscriptions = [
                Subscription(number: 1, name: nil, sender: nil, start: .since(0)),
                Subscription(number: 2, name: "A", sender: nil, start: .last(2)),
            ]
            if !startsFresh {
                memory.finish([1])
                memory.miss([1])
            }
            scan = StreamScan(subscriptions, from: startsFresh ? .first : .again(.zero), memory, newest: 2)
            followers = subscriptions.map { Follower($0) }
            queues = subscriptions.map { _ in EventQueue(.bounded(3, .dropOldest), .hold, mostHeld: 3) }
        }

        mutating func scan(_ value: RedisValue) -> Bool {
            guard var parts = value.elements, parts.left >= 2, let entries = parts.next()?.elements,
                let first = parts.next()?.word.flatMap({ EntryID($0) })
            else { return false }
            var end: (EntryID, StoreReader)?
            if let last = parts.next()?.word.flatMap({ EntryID($0) }), let posters = parts.next()?.elements,
                let ends = parts.next()?.elements
            {
                end = (last, StoreReader(posters: posters, ends: ends))
            }
            var reply = ScanReply(entries, first: first, end: end, &scan, &memory)
            while true {
                switch reply.step(&scan, &memory) {
                case .items(let items): feed(items)
                case .invalid: return false
                case .end:
                    memory.prune(before: first)
                    return true
                }
            }
        }

        mutating func live(_ value: RedisValue) -> Bool {
            guard var streams = value.elements, var found = streams.next()?.elements, found.next() != nil,
                let entries = found.next()?.elements
            else { return false }
            var reply = LiveReply(entries)
            while true {
                switch reply.step(&memory) {
                case .items(let items): feed(items)
                case .invalid: return false
                case .end: return true
                }
            }
        }

        private mutating func feed(_ items: [EngineBatch.Item]) {
            for item in items {
                for index in followers.indices {
                    let emit = { (event: Follower.Event) in
                        events += 1
                        queues[index].append(event)
                    }
                    switch item {
                    case .post(let post): followers[index].take(post, in: epoch, emit)
                    case .horizon(let horizon, let only):
                        followers[index].take(horizon, isForAll: only == nil, in: epoch, emit)
                    case .baseline(let baseline): followers[index].take(baseline, in: epoch, at: .min, emit)
                    case .ended(let end, _): followers[index].take(end, in: epoch, emit)
                    case .present(let poster): followers[index].giveUp(poster, emit)
                    }
                }
            }
        }
    }
}

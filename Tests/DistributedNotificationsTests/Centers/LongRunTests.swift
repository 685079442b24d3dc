import DistributedNotifications
import Foundation
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Posts as fast as possible, through hubs that end, to observers with much room and to one with little.
struct LongRunTests {
    /// The number of posts; more in the long form.
    private static let posts =
        ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_POSTS"].flatMap(UInt64.init) ?? 20_000

    /// The account of one observer, by poster.
    private final class Account: Sendable {
        private struct State: Sendable {
            var next: [DistributedNotification.Poster: UInt64] = [:]
            var delivered: UInt64 = 0
            var missed: UInt64 = 0
            var failure: String?
        }

        private let state = Guarded(State())

        func take(_ event: DistributedNotificationEvent) {
            state.withLock { state in
                switch event {
                case .notification(let note):
                    let next = state.next[note.poster, default: 1]
                    if note.number != next { state.failure = "\(note.number) came where \(next) was due" }
                    state.next[note.poster] = note.number + 1
                    state.delivered += 1
                case .gap(let gap):
                    let next = state.next[gap.poster, default: 1]
                    guard gap.from == next, let end = gap.to else {
                        state.failure = "\(gap) came where \(next) was due"
                        return
                    }
                    state.next[gap.poster] = end + 1
                    state.missed += end - gap.from + 1
                }
            }
        }

        var delivered: UInt64 { state.withLock { $0.delivered } }
        var missed: UInt64 { state.withLock { $0.missed } }
        var failure: String? { state.withLock { $0.failure } }
    }

    @Test func `delivered and missed make posted, for each observer and poster, whatever hubs there are`()
        throws
    {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        func center() throws -> DistributedNotificationCenter {
            try DistributedNotificationCenter(.hub(named: name, in: names, servesIfFirst: false))
        }
        var hub = try DistributedNotificationHub(named: name, in: names)
        let observers = try (0..<3).map { _ in try center() }
        let posters = try (0..<2).map { _ in try center() }
        let accounts = observers.map { _ in Account() }
        let share = Self.posts / UInt64(posters.count)
        try withWorker { loop in
            let observations = observers.indices.map { index in
                let account = accounts[index]
                // The last one has room for little, so it gets gaps.
                let capacity: DistributedNotificationCenter.Capacity =
                    index == 2 ? .bounded(16, .dropOldest) : .unlimited
                return observers[index].addObserver(forName: "a", on: loop, capacity: capacity) {
                    account.take($0)
                }
            }
            defer { for observation in observations { observation.remove() } }
            for observation in observations { #expect(observation.waitUntilConfirmed()) }
            let threads = try Threads(posters.count) { index in
                for _ in 0..<share { try posters[index].post("a", whenFull: .block(atMost: .seconds(600))) }
            }
            for round in 1...5 {
                waitUntil("a part is posted") { posters[0].statistics.posted >= share / 6 * UInt64(round) }
                hub.invalidate()
                hub.waitUntilInvalid()
                hub = try DistributedNotificationHub(named: name, in: names)
            }
            try threads.join()
            for account in accounts {
                waitUntil("all is accounted for") {
                    account.failure != nil
                        || account.delivered + account.missed == share * UInt64(posters.count)
                }
                #expect(account.failure == nil)
            }
            // A process that is behind gets gaps, too, because the hub keeps no more than its limit for one connection.
            #expect(accounts.allSatisfy { $0.delivered > 0 } && accounts[2].missed > 0)
            if Self.posts > 20_000 {
                print("delivered and missed: \(accounts.map { ($0.delivered, $0.missed) })")
            }
        }
        for center in posters + observers { center.invalidate() }
        hub.invalidate()
        hub.waitUntilInvalid()
        try directory.remove()
    }
}

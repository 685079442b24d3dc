import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications

/// Tables that grow by a little at a time.
struct GradualTableTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a gradual table contains what a dictionary contains`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = GradualTable<UInt64, UInt64>()
        var model: [UInt64: UInt64] = [:]
        for step: UInt64 in 1...1_500 {
            let key = UInt64.random(in: 0..<400, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let removed = table.removeValue(forKey: key)
                #expect(removed == model.removeValue(forKey: key))
            case 1:
                let changed: Void? = table.change(key) { $0 += 1 }
                #expect((changed != nil) == (model[key] != nil))
                model[key]? += 1
            case 2: if step % 50 == 0 { removeSome(&table, &model) }
            default:
                table[key] = step
                model[key] = step
            }
            #expect(table[key] == model[key] && table.count == model.count)
        }
        #expect((0..<400).allSatisfy { table[$0] == model[$0] })
        // The order in which the keys came, and those that are gone, make no difference.
        var other = GradualTable<UInt64, UInt64>()
        for key in model.keys.sorted() { other[key] = model[key] }
        #expect(other == table && other.hashValue == table.hashValue)
        while !table.isEmpty { removeSome(&table, &model) }
        #expect(model.isEmpty && table.removeSome() == nil)
        #expect(table == GradualTable() && table.hashValue == GradualTable<UInt64, UInt64>().hashValue)
    }

    private func removeSome(_ table: inout GradualTable<UInt64, UInt64>, _ model: inout [UInt64: UInt64]) {
        for value in table.removeSome() ?? [] {
            guard let key = model.first(where: { $0.value == value && table[$0.key] == nil })?.key else {
                Issue.record("a value that is not in the dictionary, or still in the table")
                return
            }
            model[key] = nil
        }
    }

    @Test func `a part that is emptied is a few elements, whatever the size of the table`() {
        var table = GradualTable<Int, Int>()
        for number in 0..<50_000 { table[number] = number }
        var (most, sum) = (0, 0)
        while let some = table.removeSome() {
            most = max(most, some.count)
            sum += some.count
        }
        // There are 8 in a part on average.
        #expect(sum == 50_000 && most < 64)
    }

    @Test func `one more topic never makes the hub move all others`() async {
        // A process of its own, because other tests allocate, too.
        await #expect(processExitsWith: .success) { try GradualTableTests.addTopics() }
    }

    private static func addTopics() throws {
        if !Allocations.areCounted { return }
        var hub = Hub(Epoch(high: 0, low: 1))
        let poster = PosterID(high: 1, low: 1)
        _ = hub.open(1, poster: poster)
        try hub.announce(Announcement(horizons: [], number: 0, isOpening: true), from: 1)
        var (most, number) = (0, 0)
        while number < hub.limits.topics {
            number += 1
            let post = Post(
                poster: poster, number: UInt64(number), previous: 0,
                topic: Topic(name: "topic \(number)", sender: "a sender of its own \(number)"))
            let before = Allocations.bytesInUse
            try hub.publish(post, from: 1)
            most = max(most, Allocations.bytesInUse - before)
        }
        // The table of topics alone takes several megabytes.
        #expect(most < 1_000_000, "\(most) bytes")
    }

    @Test func `an array that grows by parts keeps its elements`() {
        var array = GradualArray<Int>()
        for number in 0..<1_000 { array.append(number) }
        array[700] += 1
        #expect(array.count == 1_000 && array[0] == 0 && array[700] == 701 && array[999] == 999)
    }

    @Test func `owners take turns, however many keys they have`() {
        var turns = FairTurns<Int, String>()
        for key in 0..<1_000 { turns.add(key, of: "greedy") }
        turns.add(2_000, of: "one")
        turns.add(2_001, of: "other")
        turns.add(2_000, of: "one")
        let first = (0..<4).compactMap { _ in turns.next() }
        #expect(first == [0, 2_000, 2_001, 1])
        // A key that comes again is behind the others of its owner, and before a second turn of any other owner.
        turns.add(2_000, of: "one")
        turns.add(0, of: "greedy")
        #expect([turns.next(), turns.next(), turns.next()] == [2, 2_000, 3])
        var rest: [Int] = []
        while let key = turns.next() { rest.append(key) }
        #expect(rest == Array(4..<1_000) + [0] && turns.isEmpty)
    }
}

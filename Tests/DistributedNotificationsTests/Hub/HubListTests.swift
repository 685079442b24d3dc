import TestSupport
import Testing

@testable import DistributedNotifications

struct HubListTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a place in a list stays valid whatever is removed`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var list = SerialList<UInt64>()
        var model: [UInt64] = []
        for serial: UInt64 in 1...400 {
            list.append(serial, serial: serial)
            model.append(serial)
            while Int.random(in: 0..<3, using: &random) > 0, !model.isEmpty {
                list.remove(model.remove(at: .random(in: model.indices, using: &random)))
            }
            let place = UInt64.random(in: 0...serial, using: &random)
            #expect(list.next(after: place)?.element == model.first { $0 > place })
            #expect(list.count == model.count && list.first?.element == model.first)
        }
    }

    @Test func `who has most loses its oldest, and then who has the oldest`() {
        var queue = FairQueue<Int, String>()
        queue.append(1, of: "small")
        for key in 2...5 { queue.append(key, of: "greedy") }
        queue.append(6, of: "other")
        var lost: [Int] = []
        while let key = queue.firstOfGreediest {
            lost.append(key)
            queue.remove(key)
        }
        #expect(lost == [2, 3, 4, 1, 5, 6])
        queue.append(7, of: "small", weight: 9)
        for key in 8...10 { queue.append(key, of: "greedy", weight: 2) }
        #expect(queue.weight == 15 && queue.firstOfGreediest == 7)
    }

    @Test func `a process with many absent posters loses its own, and no one else's`() {
        var absence = HubAbsence()
        let (greedy, other) = (HubShares.Owner(user: 1, process: 1), HubShares.Owner(user: 1, process: 2))
        absence.add(PosterID(high: 2, low: 0), nil, of: other)
        for number: UInt64 in 1...1_000 {
            absence.add(PosterID(high: 1, low: number), nil, of: greedy)
            while let excess = absence.excess(of: greedy) {
                #expect(excess.high == 1)
                absence.remove(excess)
            }
        }
        #expect(absence.count == HubAbsence.mostOfProcess + 1)
        // Many processes together have a bound, too.
        for process: Int32 in 10..<2_000 {
            let owner = HubShares.Owner(user: 1, process: process)
            absence.add(PosterID(high: 3, low: UInt64(process)), nil, of: owner)
            while let excess = absence.excess(of: owner) { absence.remove(excess) }
        }
        #expect(absence.count == HubAbsence.most)
        #expect(absence.removeAll(of: greedy).count <= 1)
    }
}

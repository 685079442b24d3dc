import TestSupport
import Testing

@testable import RunLoops

/// A heap of slots by date, compared with a sorted array.
@Suite struct IndexedHeapTests {
    @Test(arguments: 0..<100 as Range<UInt64>) func `whatever comes and goes, the first is the earliest`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var heap = IndexedHeap()
        var expected: [(key: IndexedHeap.Key, slot: Int)] = []
        for slot in 0..<300 {
            let date = Moment(nanoseconds: .random(in: 0..<40, using: &random))
            let key = IndexedHeap.Key(date: date, sequence: UInt64(slot))
            heap.insert(slot, key: key)
            expected.append((key, slot))
            if Bool.random(using: &random), let victim = expected.randomElement(using: &random) {
                heap.remove(victim.slot)
                expected.removeAll { $0.slot == victim.slot }
            }
            #expect(heap.first == expected.map(\.key).min())
            #expect(heap.count == expected.count)
        }
        while let first = expected.min(by: { $0.key < $1.key }) {
            #expect(heap.first == first.key)
            heap.remove(first.slot)
            expected.removeAll { $0.slot == first.slot }
        }
        #expect(heap.isEmpty)
    }
}

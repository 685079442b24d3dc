import TestSupport
import Testing

@testable import RunLoops

/// The order of a loop's observers, after any additions and removals.
@Suite struct ObserverListTests {
    private typealias Observer = RunLoop.Observer

    /// An observer that was added.
    private struct Added {
        let observer: RunLoop.Observer
        let number: UInt64
    }

    private let moments: [RunLoop.Activity] = [
        .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
    ]

    private func called(_ list: inout ObserverList) -> [ObjectIdentifier] {
        list.inOrder().compactMap(\.observer).map { ObjectIdentifier($0) }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `observers are listed by their order and then by their adding, whatever is added and removed`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var list = ObserverList()
        var expected: [Added] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let observer = Observer(
                    activities: moments.randomElement(using: &random) ?? .entry,
                    order: Int.random(in: -3...3, using: &random)
                ) { _, _ in }
                expected.append(Added(observer: observer, number: list.add(observer)))
            case 2, 3:
                guard let index = expected.indices.randomElement(using: &random) else { continue }
                let removed = expected.remove(at: index)
                list.remove(removed.observer, removed.number)
            default:
                let ordered = expected.sorted {
                    ($0.observer.order, $0.number) < ($1.observer.order, $1.number)
                }
                #expect(called(&list) == ordered.map { ObjectIdentifier($0.observer) })
            }
            #expect(list.count == expected.count)
            #expect(list.activities == expected.reduce([]) { $0.union($1.observer.activities) })
        }
    }

    @Test func `a list that somebody goes through stays as it was`() {
        var list = ObserverList()
        let observers = (0..<4).map { _ in Observer(activities: .all) { _, _ in } }
        let numbers = observers.map { list.add($0) }
        let seen = list.inOrder()
        for (observer, number) in zip(observers, numbers) { list.remove(observer, number) }
        _ = list.add(observers[0])
        #expect(seen.map(\.number) == numbers)
        #expect(seen.allSatisfy { $0.observer != nil })
        #expect(called(&list) == [ObjectIdentifier(observers[0])])
    }

    @Test func `an observer of all moments wants each of them`() {
        var list = ObserverList()
        let observer = Observer(activities: .all) { _, _ in }
        let number = list.add(observer)
        for moment in moments { #expect(list.activities.contains(moment)) }
        list.remove(observer, number)
        #expect(list.activities.isEmpty)
    }
}

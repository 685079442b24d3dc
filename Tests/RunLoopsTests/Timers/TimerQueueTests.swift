import TestSupport
import Testing

@testable import RunLoops

/// The due timers, their order, and the wake-up time: a queue in comparison with a sorted array.
@Suite struct TimerQueueTests {
    private typealias Queue = TimerQueue<Int>

    /// A planned fire in the array.
    private struct Planned {
        let id: Int
        let date: Int64
        let tolerance: Int64
        let fire: Queue.Fire
    }

    private func moment(_ nanoseconds: Int64) -> Moment { Moment(nanoseconds: nanoseconds) }

    private func take(_ fires: [Queue.Fire], from queue: inout Queue) -> [Int?] {
        fires.map { queue.remove($0) }
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func `random timers are due as a sorted array says`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var queue = Queue()
        var planned: [Planned] = []
        var now: Int64 = 0
        for id in 0..<150 {
            let date = now + Int64.random(in: -5..<20, using: &random)
            let tolerance = Bool.random(using: &random) ? 0 : Int64.random(in: 1..<15, using: &random)
            let sequence = queue.makeSequence()
            let fire = queue.add(id, date: moment(date), tolerance: tolerance, sequence: sequence)
            planned.append(Planned(id: id, date: date, tolerance: tolerance, fire: fire))
            if Int.random(in: 0..<4, using: &random) == 0 {
                let index = planned.indices.randomElement(using: &random) ?? 0
                let removed = queue.remove(planned[index].fire)
                #expect(removed == planned[index].id)
                planned.remove(at: index)
            }
            #expect(queue.nextWake?.nanoseconds == planned.map { $0.date + $0.tolerance }.min())
            #expect(queue.count == planned.count)
            #expect(queue.isEmpty == planned.isEmpty)
            if id % 10 == 9 {
                now += Int64.random(in: 0..<12, using: &random)
                let due = planned.filter { $0.date <= now }.sorted { ($0.date, $0.id) < ($1.date, $1.id) }
                #expect(take(queue.due(at: moment(now)), from: &queue) == due.map(\.id))
                planned.removeAll { $0.date <= now }
            }
        }
    }

    @Test func `equal dates come in the order of adding, whatever was taken out between`() {
        var queue = Queue()
        var fires: [Queue.Fire] = []
        for id in 0..<100 {
            fires.append(queue.add(id, date: moment(7), sequence: queue.makeSequence()))
            // Later timers reuse the slots of these.
            if id % 3 == 2 { queue.remove(fires[id - 1]) }
        }
        #expect(take(queue.due(at: moment(7)), from: &queue) == (0..<100).filter { $0 % 3 != 1 })
    }

    @Test func `a timer that is planned again keeps its place among equal dates`() {
        var queue = Queue()
        let first = queue.makeSequence()
        let second = queue.makeSequence()
        let early = queue.add(1, date: moment(1), sequence: first)
        _ = queue.add(2, date: moment(5), sequence: second)
        queue.remove(early)
        _ = queue.add(1, date: moment(5), sequence: first)
        #expect(take(queue.due(at: moment(5)), from: &queue) == [1, 2])
    }

    @Test func `a fire that was taken out is stale, also when its place is used again`() {
        var queue = Queue()
        let stale = queue.add(1, date: moment(1), sequence: queue.makeSequence())
        #expect(take([stale, stale], from: &queue) == [1, nil])
        let fresh = queue.add(2, date: moment(1), sequence: queue.makeSequence())
        #expect(take([stale], from: &queue) == [nil])
        #expect(queue.count == 1)
        #expect(take([fresh], from: &queue) == [2])
    }

    @Test func `asking what is due takes nothing out`() {
        var queue = Queue()
        let fire = queue.add(1, date: moment(1), sequence: queue.makeSequence())
        #expect(queue.due(at: moment(0)) == [])
        #expect(queue.due(at: moment(1)) == [fire])
        #expect(queue.due(at: moment(2)) == [fire])
        #expect(queue.count == 1)
    }

    @Test func `tolerance moves the wake, and not the moment from which on a timer may fire`() {
        var queue = Queue()
        let fire = queue.add(1, date: moment(10), tolerance: 5, sequence: queue.makeSequence())
        #expect(queue.nextWake == moment(15))
        #expect(queue.due(at: moment(9)) == [])
        #expect(queue.due(at: moment(10)) == [fire])
        // A wake-up at 12 serves both timers.
        _ = queue.add(2, date: moment(12), sequence: queue.makeSequence())
        #expect(queue.nextWake == moment(12))
        #expect(take(queue.due(at: moment(12)), from: &queue) == [1, 2])
        #expect(queue.nextWake == nil)
    }

    @Test func `a tolerance beyond the end of time asks for no wake`() {
        var queue = Queue()
        _ = queue.add(1, date: moment(10), tolerance: .max, sequence: queue.makeSequence())
        #expect(queue.nextWake == .never)
    }

    @Test func `a timer that is never due does not hide the others`() {
        var queue = Queue()
        _ = queue.add(1, date: .never, sequence: queue.makeSequence())
        #expect(queue.nextWake == .never)
        #expect(queue.due(at: moment(.max - 1)) == [])
        let fire = queue.add(2, date: moment(3), sequence: queue.makeSequence())
        #expect(queue.due(at: moment(3)) == [fire])
    }
}

extension TimerQueue {
    /// Returns the fires that are due.
    fileprivate func due(at now: Moment) -> [Fire] {
        var queue = self
        var due: [Fire] = []
        queue.collectDue(at: now, into: &due)
        return due
    }
}

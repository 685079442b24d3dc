import Foundation
import FoundationRunLoops
import OpenCombine
import RunLoopsOpenCombine
import Testing

/// A loop as a scheduler of OpenCombine.
@Suite struct SchedulerTests {
    typealias Time = RunLoop.SchedulerTimeType

    // Guarantees: A loop performs the actions that one thread schedules in the order of the calls, on the thread of the loop.
    @Test func `actions of one thread are performed in order, on the loop's thread`() throws {
        try withLoop { loop in
            let entries = Entries<(Int, Bool)>()
            for number in 0..<1000 { loop.schedule { entries.add((number, loop.isCurrent)) } }
            #expect(entries.wait(for: 1000))
            #expect(entries.all.map(\.0) == Array(0..<1000))
            #expect(entries.all.allSatisfy { $0.1 })
        }
    }

    @Test func `an action after a date is performed once, and not before the date`() throws {
        try withLoop { loop in
            let entries = Entries<(Date, Bool)>()
            let scheduler = loop.ocombine
            let date = scheduler.now.advanced(by: .milliseconds(50))
            scheduler.schedule(after: date) { entries.add((Date(), loop.isCurrent)) }
            scheduler.schedule(after: date, tolerance: .milliseconds(5)) {
                entries.add((Date(), loop.isCurrent))
            }
            #expect(entries.wait(for: 2))
            // The wall clock can be set back by less than this.
            #expect(entries.all.allSatisfy { $0.0 > date.date.addingTimeInterval(-0.02) && $0.1 })
        }
    }

    @Test func `a repetition ends when another thread cancels it`() throws {
        try withLoop { loop in
            let entries = Entries<Bool>()
            let scheduler = loop.ocombine
            let cancellable = scheduler.schedule(after: scheduler.now, interval: .milliseconds(1)) {
                entries.add(loop.isCurrent)
            }
            #expect(entries.wait(for: 10))
            cancellable.cancel()
            let (before, passes) = (entries.all.count, Entries<Int>())
            loop.schedule(after: scheduler.now.advanced(by: .milliseconds(20))) { passes.add(1) }
            #expect(passes.wait(for: 1))
            // A call that had begun before the end may still add an entry.
            #expect(entries.all.count <= before + 1)
            #expect(entries.all.allSatisfy { $0 })
        }
    }

    @Test func `an action can be scheduled in an action, and is performed later`() throws {
        try withLoop { loop in
            let entries = Entries<String>()
            loop.schedule {
                loop.schedule { entries.add("inner") }
                entries.add("outer")
            }
            #expect(entries.wait(for: 2))
            #expect(entries.all == ["outer", "inner"])
        }
    }

    @Test func `operators deliver on the loop`() throws {
        try withLoop { loop in
            let (values, received) = (Entries<Int>(), Entries<(Int, Bool)>())
            let subject = PassthroughSubject<Int, Never>()
            let sinks = [
                subject.debounce(for: .milliseconds(20), scheduler: loop.ocombine).sink { values.add($0) },
                subject.receive(on: loop).sink { received.add(($0, loop.isCurrent)) },
            ]
            for number in 0..<3 { subject.send(number) }
            #expect(values.wait(for: 1))
            #expect(received.wait(for: 3))
            #expect(values.all == [2])
            #expect(received.all.map(\.0) == [0, 1, 2] && received.all.allSatisfy { $0.1 })
            for sink in sinks { sink.cancel() }
        }
    }

    @Test func `dates and times are counted in seconds`() throws {
        let (early, late) = (
            Time(Date(timeIntervalSinceReferenceDate: 100)), Time(Date(timeIntervalSinceReferenceDate: 131))
        )
        #expect(early.distance(to: late) == 31)
        #expect(late.distance(to: early) == .seconds(-31))
        #expect(early.advanced(by: .milliseconds(31_000)) == late)
        #expect(
            early.distance(to: Time(.distantFuture)).timeInterval
                == Date.distantFuture.timeIntervalSince(early.date))
        #expect(early < late && Set([early, late, late]).count == 2)
        var stride = Time.Stride.seconds(2.5)
        stride *= 2
        stride -= .microseconds(1_000_000)
        stride += .nanoseconds(500_000_000)
        #expect(stride == 4.5 && stride > .seconds(4) && -stride < 0)
        #expect(Time.Stride(exactly: 3) == .seconds(3))
        #expect(Time.Stride(exactly: Int.max) == nil)
        let coded = try JSONDecoder().decode([Time].self, from: JSONEncoder().encode([early, late]))
        #expect(coded == [early, late])
        let codedStride = try JSONDecoder().decode(Time.Stride.self, from: JSONEncoder().encode(stride))
        #expect(codedStride == stride)
        #expect(RunLoop.main.minimumTolerance == 0)
        #expect(abs(RunLoop.main.now.date.timeIntervalSinceNow) < 60)
    }
}

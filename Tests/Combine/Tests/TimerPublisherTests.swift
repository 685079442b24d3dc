import Foundation
import FoundationRunLoops
import OpenCombine
import RunLoopsOpenCombine
import Testing

/// Publishers of timers.
@Suite struct TimerPublisherTests {
    @Test func `subscribers get the dates that they request, on the loop's thread`() throws {
        try withLoop { loop in
            let onLoop = Entries<Bool>()
            let publisher = Timer.publish(every: 0.001, on: loop, in: .common)
            let recorders = [
                Recorder<Date>(.max(2)) { _ in
                    onLoop.add(loop.isCurrent)
                    return .none
                },
                Recorder<Date>(.max(1)) { _ in onLoop.all.count < 4 ? .max(1) : .none },
                Recorder<Date>(.none),
                Recorder<Date>(.unlimited),
            ]
            for recorder in recorders { publisher.subscribe(recorder) }
            let connection = publisher.connect()
            #expect(recorders[3].inputs.wait(for: 20))
            connection.cancel()
            #expect(recorders[0].inputs.all.count == 2)
            #expect(recorders[1].inputs.all.count > 2)
            #expect(recorders[2].inputs.all.count == 0)
            #expect(onLoop.all == [true, true])
            let dates = recorders[3].inputs.all
            #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 <= $1 })
        }
    }

    // Guarantees: After a subscription or a connection was cancelled on any thread, no call of a subscriber begins.
    @Test func `a subscription that is cancelled gets no date, and the others go on`() throws {
        try withLoop { loop in
            let publisher = Timer.publish(every: 0.001, on: loop, in: .common)
            let (first, second) = (Recorder<Date>(.unlimited), Recorder<Date>(.unlimited))
            publisher.subscribe(first)
            publisher.subscribe(second)
            let connection = publisher.connect()
            #expect(first.inputs.wait(for: 3))
            first.subscriptions.all[0].cancel()
            first.subscriptions.all[0].cancel()
            let before = first.inputs.all.count
            #expect(second.inputs.wait(for: second.inputs.all.count + 10))
            #expect(first.inputs.all.count <= before + 1)
            connection.cancel()
        }
    }

    // Guarantees: After a subscription or a connection was cancelled on any thread, no call of a subscriber begins.
    @Test func `each connection has a timer, and cancelling one ends all subscriptions`() throws {
        try withLoop { loop in
            let publisher = Timer.TimerPublisher(interval: 0.001, tolerance: 0, runLoop: loop, mode: .common)
            let recorder = Recorder<Date>(.unlimited)
            publisher.subscribe(recorder)
            let connections = [publisher.connect(), publisher.connect()]
            #expect(recorder.inputs.wait(for: 10))
            connections[0].cancel()
            let (before, passes) = (recorder.inputs.all.count, Entries<Int>())
            loop.schedule(after: loop.now.advanced(by: .milliseconds(20))) { passes.add(1) }
            #expect(passes.wait(for: 1))
            #expect(recorder.inputs.all.count <= before + 1)
            connections[1].cancel()
        }
    }

    @Test func `a publisher that connects by itself ends with its subscription`() throws {
        try withLoop { loop in
            let dates = Entries<Date>()
            var ticks: AnyCancellable? = Timer.publish(every: 0.001, on: loop, in: .common).autoconnect()
                .prefix(3).sink { dates.add($0) }
            #expect(dates.wait(for: 3))
            ticks?.cancel()
            ticks = nil
            let passes = Entries<Int>()
            loop.schedule(after: loop.now.advanced(by: .milliseconds(10))) { passes.add(1) }
            #expect(passes.wait(for: 1))
            #expect(dates.all.count == 3)
        }
    }

    @Test func `a publisher has the values that it was made with, and ignores the tolerance of the method`() {
        let mode = RunLoop.Mode("timers")
        let publisher = Timer.publish(every: 0.25, tolerance: 0.1, on: .main, in: mode)
        #expect(publisher.interval == 0.25 && publisher.tolerance == nil)
        #expect(publisher.runLoop === RunLoop.main && publisher.mode == mode && publisher.options == nil)
    }
}

import Synchronization
import TestSupport
import Testing

@testable import RunLoops

/// The record of calls, which one thread writes and another thread reads.
@Suite struct HandlerRecordTests {
    /// A record that two threads share.
    private final class Shelf: Sendable {
        let record = HandlerRecord()
        let isOver = Atomic(false)
    }

    private static let places = [
        SourceLocation("First/Place.swift", 1), SourceLocation("Second/Place.swift", 2),
    ]

    @Test func `what is read belongs together, however fast calls follow each other`() throws {
        let shelf = Shelf()
        shelf.record.addWatchers(1)
        let started = Gate()
        let threads = try Threads(1) { _ in
            var number = 0
            while !shelf.isOver.load(ordering: .relaxed) {
                let place = HandlerRecordTests.places[number % 2]
                let isNoted = shelf.record.begin(
                    .block, place, nextTimer: Moment(nanoseconds: Int64(place.line)))
                // A run interrupts every third call.
                if number % 3 == 0 {
                    shelf.record.resume(
                        shelf.record.pause(), nextTimer: Moment(nanoseconds: Int64(place.line)))
                }
                shelf.record.end()
                if !isNoted { Issue.record("a call that is not noted") }
                if number == 0 { started.open() }
                number += 1
            }
        }
        #expect(started.wait())
        var found = 0
        var mixed: [HandlerRecord.Look] = []
        let end = ContinuousClock.Instant.hang
        while found < 100_000 && (found % 1_000 != 0 || ContinuousClock.now < end) {
            guard let look = shelf.record.look() else { continue }
            found += 1
            if look.nextTimer.nanoseconds != Int64(look.call.line) { mixed.append(look) }
            if found % 100 == 0
                && look.madeAt != HandlerRecordTests.places[Int(look.call.line) - 1].description
            {
                mixed.append(look)
            }
        }
        shelf.isOver.store(true, ordering: .relaxed)
        try threads.join()
        #expect(mixed.count == 0)
        #expect(found == 100_000)
    }

    @Test func `a call that ends while it is looked at is none, also if another one has begun`() {
        let record = HandlerRecord()
        record.addWatchers(1)
        let begins = { (number: Int) in
            record.begin(.block, HandlerRecordTests.places[number], nextTimer: .never)
        }
        #expect(begins(0))
        let ended = record.look(midway: { record.end() })
        #expect(ended == nil)
        #expect(begins(0))
        let followed = record.look(midway: {
            record.end()
            #expect(begins(1))
        })
        #expect(followed == nil)
    }

    @Test func `a call inside another one is not written down, and neither is one that nobody watches`() {
        let record = HandlerRecord()
        let (outer, inner) = (HandlerRecordTests.places[0], HandlerRecordTests.places[1])
        let isNotedUnwatched = record.begin(.block, outer, nextTimer: .never)
        record.setTimed(true)
        let isNotedTimed = record.begin(.block, outer, nextTimer: .never)
        record.addWatchers(1)
        let isNotedOutside = record.begin(.timer, outer, nextTimer: .never)
        let isNotedInside = record.begin(.port, inner, nextTimer: .never)
        #expect(
            [isNotedUnwatched, isNotedTimed, isNotedOutside, isNotedInside] == [false, false, true, false])
        let look = record.look()
        #expect(look?.call.kind == .timer)
        #expect(look?.madeAt == "First/Place.swift:1")
        record.end()
        let after = record.look()
        #expect(after == nil)
    }
}

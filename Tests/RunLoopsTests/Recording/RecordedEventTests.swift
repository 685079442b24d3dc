import TestSupport
import Testing

@testable import RunLoops

/// The 24 bytes of an event, and the times that they encode.
@Suite struct RecordedEventTests {
    @Test func `an event gives back what it was made of`() {
        var random = SplitMix64(seed: 16)
        for _ in 0..<10_000 {
            let kind = EventKind.allCases[Int(random.next() % UInt64(EventKind.allCases.count))]
            let end = random.next()
            let duration = random.next() & RecordedEvent.longestDuration
            let place = UInt32(truncatingIfNeeded: random.next()) & RecordedEvent.mostPlaces
            let stamp = UInt32(truncatingIfNeeded: random.next())
            let depth = Int(random.next() & 0xff)
            let number = Int(random.next() & 0xffff)
            let event = RecordedEvent(
                kind, end: end, duration: duration, place: place, stamp: stamp, depth: depth, number: number)
            let (first, second, third) = event.words
            let copy = RecordedEvent(first, second, third)
            #expect(copy == event)
            #expect(event.kind == kind && event.end == end && event.duration == duration)
            #expect(event.start == end &- duration && event.place == place && event.stamp == stamp)
            #expect(event.depth == depth && event.number == number)

            let begun = RecordedEvent(
                kind, end: end, place: place, stamp: stamp, depth: depth, number: Int(random.next() & 0xffff))
            let over = RecordedEvent(
                kind, end: end &+ duration, duration: duration, place: place, stamp: stamp, depth: depth,
                number: number)
            #expect(begun.ended(at: over.end, number: number) == over)
            #expect(begun.ended(at: over.end, number: nil).number == begun.number)
            #expect(begun.ended(at: end &- 1, number: nil).duration == RecordedEvent.longestDuration)
        }
    }

    @Test func `what does not fit is cut, and disturbs nothing else`() {
        let event = RecordedEvent(
            .port, end: .max, duration: .max, place: .max, stamp: .max, depth: 1_000, number: 1_000_000)
        #expect(event.kind == .port && event.end == .max)
        #expect(event.duration == 1 << 40 - 1 && event.place == 1 << 24 - 1)
        #expect(event.depth == 255 && event.number == 65_535 && event.stamp == .max)
        let negative = RecordedEvent(.port, end: 0, depth: -1, number: -1)
        #expect(negative.depth == 0 && negative.number == 0)
    }

    @Test func `memory that was never written is no event`() {
        #expect(RecordedEvent(0, 0, 0) == nil)
        #expect(RecordedEvent(1, 2, 0xff_0000_0000) == nil)
    }

    @Test func `each kind of a handler is a kind of an event`() {
        for kind in RunLoop.HandlerKind.allCases { #expect(EventKind(kind).handler == kind) }
        for kind in EventKind.allCases where kind.rawValue >= 32 { #expect(kind.handler == nil) }
    }

    @Test func `a stamp tells the time since it was taken, also after its count has gone round`() {
        var random = SplitMix64(seed: 64)
        for _ in 0..<10_000 {
            let sent = random.next() >> 8
            let wait = random.next() % (1 << 37)
            let stamp = MessageStamp.at(sent)
            #expect(stamp != 0)
            let seen = MessageStamp.ticks(from: stamp, to: sent + wait)
            #expect(seen <= wait + 64 && wait <= seen + 128)
        }
        #expect(MessageStamp.at(0) == 1)
    }

    @Test func `a scale maps both of its readings to themselves, and is even in between`() {
        let scale = TickScale(
            RecorderClock.Reading(ticks: 5_000, moment: Moment(nanoseconds: 1_000_000)),
            RecorderClock.Reading(ticks: 8_000, moment: Moment(nanoseconds: 1_001_000)))
        #expect(scale.moment(5_000).nanoseconds == 1_000_000)
        #expect(scale.moment(8_000).nanoseconds == 1_001_000)
        #expect(scale.moment(6_500).nanoseconds == 1_000_500)
        #expect(scale.moment(2_000).nanoseconds == 999_000)
        #expect(scale.nanoseconds(300) == 100)
        let same = RecorderClock.Reading(ticks: 7, moment: Moment(nanoseconds: 9))
        #expect(TickScale(same, same).moment(7).nanoseconds == 9)
    }

    @Test func `both readings of a clock are of one time`() {
        for clock in [RecorderClock.best, .nanoseconds] {
            let before = Moment.now()
            let reading = clock.reading()
            #expect(reading.moment >= before && reading.moment <= Moment.now())
            // There is at least one tick in a microsecond, and at most some ten thousand.
            #expect((1...20_000).contains(clock.measureMicrosecond()))
        }
    }
}

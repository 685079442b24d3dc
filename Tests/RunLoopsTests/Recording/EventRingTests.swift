import Foundation
import Synchronization
import TestSupport
import Testing

@testable import RunLoops

/// The ring of one thread: the order of its events, the overwritten ones, and the absence of torn events.
@Suite struct EventRingTests {
    private static func ring(_ capacity: Int) -> EventRing {
        EventRing(
            generation: 1, clock: .nanoseconds, microsecond: 1_000,
            thread: EventRing.ThreadName(number: 0, id: 1, name: "test"), capacity: capacity)
    }

    /// An event all of whose fields follow from its number.
    private static func event(_ number: UInt64) -> RecordedEvent {
        RecordedEvent(
            EventKind.allCases[Int(number % UInt64(EventKind.allCases.count))], end: number,
            duration: number & RecordedEvent.longestDuration,
            place: UInt32(truncatingIfNeeded: number & 0xff_ffff),
            stamp: UInt32(truncatingIfNeeded: number), depth: Int(number & 0xff), number: Int(number & 0xffff)
        )
    }

    @Test func `a ring gives back its last events in their order`() {
        let ring = Self.ring(256)
        defer { ring.destroy() }
        #expect(ring.copyEvents().events.isEmpty)
        for number in 0..<256 { ring.write(Self.event(UInt64(number))) }
        let all = ring.copyEvents()
        // The writer has not yet announced that it will overwrite the first events.
        #expect(all.events.map(\.end) == Array(0..<256))
        #expect(!all.lostOlder)
        ring.write(Self.event(256))
        let rest = ring.copyEvents()
        #expect(rest.events.map(\.end) == Array(64..<257))
        #expect(rest.lostOlder)
    }

    @Test func `events that are overwritten during a copy are dropped`() {
        let ring = Self.ring(256)
        defer { ring.destroy() }
        for number in 0..<1_000 { ring.write(Self.event(UInt64(number))) }
        let copy = ring.copyEvents(midway: {
            for number in 1_000..<1_100 { ring.write(Self.event(UInt64(number))) }
        })
        // The writer has announced events up to 1,152, so those from 896 on are intact.
        #expect(copy.events.map(\.end) == Array(896..<1_000))
        let none = ring.copyEvents(midway: {
            for number in 1_100..<2_000 { ring.write(Self.event(UInt64(number))) }
        })
        #expect(none.events.isEmpty && none.lostOlder)
    }

    @Test func `memory that is given back holds no events`() {
        let ring = Self.ring(256)
        defer { ring.destroy() }
        for number in 0..<100 { ring.write(Self.event(UInt64(number))) }
        ring.giveBackEvents()
        #expect(ring.copyEvents().events.isEmpty)
        ring.write(Self.event(100))
        #expect(ring.copyEvents().events.map(\.end) == [100])
    }

    @Test func `a thread that is not recorded writes nothing`() {
        let ring = Self.ring(0)
        defer { ring.destroy() }
        #expect(!ring.isRecorded)
        ring.write(Self.event(1))
        #expect(ring.copyEvents().events.isEmpty)
    }

    @Test func `slices are under way from their beginning to their end`() {
        let ring = Self.ring(256)
        defer { ring.destroy() }
        for number in 0..<20 { ring.open(Self.event(UInt64(number))) }
        #expect(ring.copyOpen().map(\.end) == Array(0..<16))
        #expect(ring.depth == 20 && ring.innermost == nil)
        for _ in 0..<18 { ring.close() }
        #expect(ring.copyOpen().map(\.end) == [0, 1])
        #expect(ring.innermost?.end == 1)
        for _ in 0..<3 { ring.close() }
        #expect(ring.depth == 0 && ring.copyOpen().isEmpty)
    }

    @Test func `slices that change while they are read are read again`() {
        let open = OpenSlices()
        open.push(Self.event(1))
        var attempts = 0
        let slices = open.copy(midway: {
            attempts += 1
            if attempts > 1 { return }
            open.pop()
            open.push(Self.event(2))
        })
        #expect(attempts == 2 && slices.map(\.end) == [2])
    }

    // Guarantees: A snapshot has only events that were written whole.
    @Test func `no event is torn while one thread writes and another copies`() throws {
        let count = UInt64(ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_EVENTS"] ?? "") ?? 2_000_000
        let ring = Self.ring(1 << 10)
        defer { ring.destroy() }
        let isDone = Atomic(false)
        let writer = try BareThread {
            for number in 0..<count {
                ring.write(Self.event(number))
                if number % 3 == 0 { ring.open(Self.event(number)) } else if ring.depth > 0 { ring.close() }
            }
            isDone.store(true, ordering: .releasing)
        }
        var copied = 0
        var torn = 0
        while !isDone.load(ordering: .acquiring) {
            let events = ring.copyEvents().events
            copied += events.count
            torn += events.count { $0 != Self.event($0.end) }
            torn += zip(events, events.dropFirst()).count { $0.end + 1 != $1.end }
            torn += ring.copyOpen().count { $0 != Self.event($0.end) }
        }
        writer.join()
        #expect(torn == 0)
        #expect(copied > 0)
        print("recorder: \(count) events written, \(copied) copied meanwhile")
    }
}

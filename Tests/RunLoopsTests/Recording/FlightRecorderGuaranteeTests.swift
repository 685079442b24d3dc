import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Guarantees of the article on recording that involve several parts.
@Suite(.disabled(if: ForcedRecording.isOn)) struct FlightRecorderGuaranteeTests {
    // Guarantees: No thread waits for another thread's events, nor for a snapshot.
    @Test func `a snapshot and a thread that is stopped in the middle of an event hold up no other thread`()
        throws
    {
        let generation = UInt32.max
        let ring = EventRing(
            generation: generation, clock: .nanoseconds, microsecond: 1_000,
            thread: EventRing.ThreadName(number: 0, id: 0, name: "stopped"), capacity: 256)
        defer { ring.destroy() }
        ring.write(RecordedEvent(.mark, end: 1))
        // The thread continues to write during a copy. Copies continue during a write, which this test simulates.
        let copy = ring.copyEvents(midway: {
            for number in 2..<UInt64(1_000) { ring.write(RecordedEvent(.mark, end: number)) }
        })
        #expect(copy.events.isEmpty)
        #expect(ring.copyEvents().events.count == 231)

        // While a snapshot is read, other threads make rings, write to them, and end.
        let recorder = try FlightRecorder(detail: .everything)
        defer { recorder.stop() }
        let session = try #require(Recording.session)
        let answered: Bool? = try Recording.read(session.generation) { _, _, _ in
            let done = Gate()
            let thread = try BareThread {
                recorder.mark("during the snapshot")
                done.open()
            }
            let isDone = done.wait()
            thread.join()
            return isDone
        }
        #expect(answered == true)
        #expect(recorder.snapshot().events.contains { $0.place == "during the snapshot" })
    }

    @Test func `a ring that is being read is destroyed only afterwards`() throws {
        let recorder = try FlightRecorder(detail: .everything)
        let session = try #require(Recording.session)
        let thread = try BareThread { recorder.mark("ended") }
        thread.join()
        let copied = Recording.read(session.generation) { _, rings, _ in
            // This ends the recording, and with it the ring of the ended thread.
            recorder.stop()
            return rings.map { $0.copyEvents().events.count }
        }
        #expect(copied?.contains(1) == true)
        #expect(Recording.read(session.generation) { _, _, _ in true } == nil)
    }

    // Guarantees: A recording has no contents of messages or notifications.
    @Test func `no contents of a message get into a recording`() throws {
        try RecordedRun.run { recorder in
            let secret = "the secret \(getpid())"
            let number = 0x5EC2_E701_DEAD_BEEF
            try onLoopThread { loop in
                let texts = Port<String>()
                let numbers = Port<Int>()
                loop.add(texts, forMode: .default) { _ in }
                loop.add(numbers, forMode: .default) { _ in }
                try texts.send(secret)
                try numbers.send(number)
                loop.perform { _ = (secret, number) }
                loop.settle()
            }
            let session = try #require(Recording.session)
            let words = try #require(
                Recording.read(session.generation) { _, rings, _ in
                    rings.flatMap { $0.copyEvents().events.flatMap { [$0.words.0, $0.words.1, $0.words.2] } }
                })
            #expect(!words.isEmpty && !words.contains(UInt64(number)))
            #expect(!RecordedPlaces.texts().contains { $0.contains(secret) })
        }
    }
}

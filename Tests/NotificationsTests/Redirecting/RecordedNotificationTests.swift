import TestExpectations
import TestSupport
import Testing

@testable import Notifications
@testable import RunLoops

/// Posts and deliveries in the recordings of a flight recorder.
@Suite(.disabled(if: ForcedRecording.isOn)) struct RecordedNotificationTests {
    @Test func `a post is recorded with its name, and a delivery with the place of its post`() throws {
        let recorder = try FlightRecorder(detail: .everything)
        defer { recorder.stop() }
        let center = NotificationCenter()
        let thread = try RunLoopThread(name: "observer")
        let delivered = Gate()
        let tokens = [
            center.addObserver(forName: .a, on: thread.runLoop) { _ in delivered.open() },
            center.addObserver(forName: .a) { _ in },
        ]
        center.post(name: .b)
        let line = #line + 1
        center.post(name: .a)
        #expect(delivered.wait())
        thread.stop()
        thread.join()
        withExtendedLifetime(tokens) {}
        let snapshot = recorder.snapshot()
        let events = snapshot.threads.flatMap(\.events)
        let posts = events.filter { $0.kind == .notification(observers: 2) }
        #expect(posts.map(\.place) == ["a"])
        #expect(!events.contains { $0.place == "b" })
        let delivery = try #require(
            snapshot.threads.first { $0.name == "observer" }?.events.first { $0.kind == .handler(.delivery) })
        #expect(delivery.place.hasSuffix("RecordedNotificationTests.swift:\(line)"))
        #expect(delivery.flow != nil && delivery.wait != nil)
        #expect(events.contains { $0.flow == delivery.flow && $0.kind == .post(count: 1) })
    }

    @Test func `a notification that is dropped is recorded with the place of the post`() throws {
        let recorder = try FlightRecorder(detail: .sampled)
        defer { recorder.stop() }
        let center = NotificationCenter()
        try onLoopThread { loop in
            let token = center.addObserver(
                forName: .a, on: loop, capacity: .bounded(1, .dropNewest)
            ) { _ in }
            let poster = try RunLoopThread(name: "poster")
            try poster.runLoop.performAndWait { for _ in 0..<3 { center.post(name: .a) } }
            poster.stop()
            poster.join()
            token.remove()
        }
        let drops = recorder.snapshot().threads.flatMap(\.events).filter { $0.kind == .drop(count: 1) }
        #expect(drops.count == 2)
        #expect(drops.allSatisfy { $0.place.contains("RecordedNotificationTests.swift:") })
    }
}

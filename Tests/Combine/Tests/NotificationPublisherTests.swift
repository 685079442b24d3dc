import Foundation
import FoundationRunLoops
import OpenCombine
import RunLoopsOpenCombine
import Testing

/// Publishers of notifications.
@Suite struct NotificationPublisherTests {
    private static let name = Notification.Name("NotificationPublisherTests")

    @Test(arguments: [(0, 0, 0), (1, 0, 1), (3, 0, 3), (2, 1, 20), (20, 5, 20)])
    func `a subscriber gets as many notifications as it has requested`(first: Int, next: Int, count: Int) {
        let center = NotificationCenter()
        let recorder = Recorder<Notification>(.max(first)) { _ in .max(next) }
        center.publisher(for: Self.name).subscribe(recorder)
        for _ in 0..<20 { center.post(name: Self.name, object: nil) }
        #expect(recorder.inputs.all.count == count)
        recorder.subscriptions.all[0].cancel()
    }

    @Test func `only notifications of the name and the object come, with their facts`() {
        let (center, object, other) = (NotificationCenter(), NSObject(), NSObject())
        let recorder = Recorder<Notification>(.unlimited)
        center.ocombine.publisher(for: Self.name, object: object).subscribe(recorder)
        center.post(name: Self.name, object: other)
        center.post(name: Notification.Name("other"), object: object)
        center.post(name: Self.name, object: nil)
        center.post(name: Self.name, object: object, userInfo: ["fact": 1])
        #expect(recorder.inputs.all.map { $0.userInfo?["fact"] as? Int } == [1])
        #expect(recorder.inputs.all.first?.object as? NSObject === object)
        recorder.subscriptions.all[0].cancel()
    }

    @Test func `a subscriber that posts is called again, and its demand is kept`() {
        let center = NotificationCenter()
        let posts = Entries<Int>()
        let recorder = Recorder<Notification>(.max(3)) { _ in
            posts.add(1)
            if posts.all.count < 10 { center.post(name: Self.name, object: nil) }
            return .none
        }
        center.publisher(for: Self.name).subscribe(recorder)
        center.post(name: Self.name, object: nil)
        #expect(recorder.inputs.all.count == 3)
        recorder.subscriptions.all[0].request(.max(1))
        center.post(name: Self.name, object: nil)
        #expect(recorder.inputs.all.count == 4)
        recorder.subscriptions.all[0].cancel()
    }

    // Guarantees: After a subscription or a connection was cancelled on any thread, no call of a subscriber begins.
    @Test func `after a cancellation nothing comes, and the center holds nothing`() {
        weak var released: NotificationCenter?
        do {
            let center = NotificationCenter()
            released = center
            let recorder = Recorder<Notification>(.unlimited)
            center.publisher(for: Self.name).subscribe(recorder)
            center.post(name: Self.name, object: nil)
            recorder.subscriptions.all[0].cancel()
            recorder.subscriptions.all[0].cancel()
            center.post(name: Self.name, object: nil)
            #expect(recorder.inputs.all.count == 1)
        }
        #expect(released == nil)
    }

    @Test func `a subscription that is released observes no more`() {
        let center = NotificationCenter()
        let inputs = Entries<Notification>()
        var sink: AnyCancellable? = center.publisher(for: Self.name).sink { inputs.add($0) }
        center.post(name: Self.name, object: nil)
        sink = nil
        center.post(name: Self.name, object: nil)
        #expect(sink == nil && inputs.all.count == 1)
    }

    @Test func `posts of several threads come one after the other`() {
        let center = NotificationCenter()
        nonisolated(unsafe) var count = 0
        let sink = center.publisher(for: Self.name).sink { _ in count += 1 }
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<500 { center.post(name: Self.name, object: nil) }
        }
        #expect(count == 2000)
        sink.cancel()
    }

    @Test func `publishers are equal if their center, name and object are the same`() {
        let (center, object) = (NotificationCenter(), NSObject())
        let publisher = center.publisher(for: Self.name, object: object)
        #expect(publisher == center.publisher(for: Self.name, object: object))
        #expect(publisher != center.publisher(for: Self.name))
        #expect(publisher != NotificationCenter().publisher(for: Self.name, object: object))
        #expect(publisher != center.publisher(for: Notification.Name("other"), object: object))
    }
}

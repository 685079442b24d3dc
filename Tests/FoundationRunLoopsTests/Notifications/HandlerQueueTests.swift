import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// An observer with a queue is called on the queue, and the post waits for the observer.
@Suite struct HandlerQueueTests {
    private let center = NotificationCenter()
    private let name = Notification.Name("queued")

    /// A count that is isolated to the main actor.
    @MainActor private final class Model { var count = 0 }

    @Test func `a handler is called in its queue before the post returns`() {
        let print = Printed()
        let queue = OperationQueue()
        queue.name = "handlers"
        center.addObserver(forName: name, object: nil, queue: queue) { _ in
            print(OperationQueue.current?.name ?? "none")
        }
        center.post(name: name, object: nil)
        print("posted")
        #expect(print.lines == ["handlers", "posted"])
    }

    @Test func `a post in the handler's own queue does not wait for itself`() {
        let print = Printed()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        center.addObserver(forName: name, object: nil, queue: queue) { _ in print("called") }
        let center = center
        let name = name
        queue.addOperations(
            [BlockOperation { center.post(name: name, object: nil) }], waitUntilFinished: true)
        #expect(print.lines == ["called"])
    }

    @Test func `a post does not wait for other work of the queue`() {
        let print = Printed()
        let (queue, gate) = (OperationQueue(), DispatchSemaphore(value: 0))
        queue.addOperation { gate.wait() }
        center.addObserver(forName: name, object: nil, queue: queue) { _ in print("called") }
        center.post(name: name, object: nil)
        #expect(print.lines == ["called"])
        gate.signal()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test @MainActor func `a post on the main actor does not wait for itself`() {
        let print = Printed()
        center.addObserver(forName: name, object: nil, queue: OperationQueue.main) { _ in print("called") }
        center.post(name: name, object: nil)
        #expect(print.lines == ["called"])
    }

    @Test @MainActor func `a handler with the main queue is the main actor's`() {
        let model = Model()
        center.addObserver(forName: name, object: nil, queue: .main) { [model] _ in model.count += 1 }
        center.post(name: name, object: nil)
        #expect(model.count == 1)
    }

    @Test func `a post on another thread waits until the main thread has called the handler`() async {
        let print = Printed()
        center.addObserver(forName: name, object: nil, queue: .main) { _ in
            print("called")
        }
        let (center, name) = (center, name)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                center.post(name: name, object: nil)
                print("posted")
                continuation.resume()
            }
        }
        #expect(print.lines == ["called", "posted"])
    }

    @Test func `the queue may be optional`() {
        let print = Printed()
        for queue: OperationQueue? in [nil, OperationQueue()] {
            center.addObserver(forName: name, object: nil, queue: queue) { _ in print("called") }
        }
        center.post(name: name, object: nil)
        #expect(print.lines == ["called", "called"])
    }
}

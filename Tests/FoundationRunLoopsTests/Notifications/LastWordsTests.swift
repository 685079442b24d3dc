import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// Posts of an object that is being destroyed, to observers with a queue: no thread may keep the object when the post returns.
///
/// Each test is a process of its own, which Swift ends if an object is destroyed while something keeps it.
@Suite struct LastWordsTests {
    private final class Document: Sendable {
        static let name = Notification.Name("closed")
        let isFact: Bool
        init(isFact: Bool) { self.isFact = isFact }
        deinit {
            if isFact {
                NotificationCenter.default.post(
                    name: Document.name, object: nil, userInfo: ["document": self])
            } else {
                NotificationCenter.default.post(name: Document.name, object: self)
            }
        }
    }

    private static func close(_ count: Int, observedIn queue: OperationQueue, isFact: Bool) -> Int {
        let log = Log<Int>()
        let token = NotificationCenter.default.addObserver(forName: Document.name, object: nil, queue: queue)
        { _ in
            log.add(1)
        }
        for _ in 0..<count { _ = Document(isFact: isFact) }
        NotificationCenter.default.removeObserver(token)
        return log.entries.count
    }

    @Test func `an object that posts itself in its deinit reaches an observer with a queue`() async {
        await #expect(processExitsWith: .success) {
            #expect(LastWordsTests.close(300, observedIn: OperationQueue(), isFact: false) == 300)
        }
    }

    @Test func `an object that posts itself as a fact in its deinit reaches an observer with a queue`() async
    {
        await #expect(processExitsWith: .success) {
            #expect(LastWordsTests.close(300, observedIn: OperationQueue(), isFact: true) == 300)
        }
    }

    @Test func `an operation that a queue has cancelled keeps nothing of the notification`() async {
        await #expect(processExitsWith: .success) {
            let queue = CancellingQueue()
            #expect(LastWordsTests.close(300, observedIn: queue, isFact: false) == 0)
            #expect(queue.cancelled.entries.count == 300)
        }
    }

    /// A queue that cancels whatever is added to it, and keeps it.
    private final class CancellingQueue: OperationQueue, @unchecked Sendable {
        let cancelled = Log<Operation>()
        override func addOperation(_ operation: Operation) {
            cancelled.add(operation)
            operation.cancel()
            super.addOperation(operation)
        }
    }
}

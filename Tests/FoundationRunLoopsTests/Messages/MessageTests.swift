import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

/// The messages of Foundation's center, on the center of this package.
@Suite struct MessageTests {
    fileprivate final class Document: Sendable {}

    fileprivate struct Saved: NotificationCenter.MainActorMessage {
        typealias Subject = Document
        let count: Int
    }

    /// A message that is not `Sendable`.
    private final class Opened: NotificationCenter.MainActorMessage {
        typealias Subject = Document
    }

    fileprivate struct Loaded: NotificationCenter.AsyncMessage {
        typealias Subject = Document
        let count: Int
    }

    private let center = NotificationCenter()

    @Test @MainActor func `a message for the main actor is handled before its post returns`() {
        let (mine, other) = (Document(), Document())
        var seen: [String] = []
        let token = center.addObserver(of: mine, for: Saved.self) { seen.append("mine \($0.count)") }
        let every = center.addObserver(for: Saved.self) { seen.append("any \($0.count)") }
        let opened = center.addObserver(of: mine, for: Opened.self) { _ in seen.append("opened") }
        center.post(Saved(count: 1), subject: mine)
        center.post(Saved(count: 2), subject: other)
        center.post(Saved(count: 3))
        center.post(Opened(), subject: mine)
        center.removeObserver(token)
        center.post(Saved(count: 4), subject: mine)
        #expect(seen == ["mine 1", "any 1", "any 2", "any 3", "opened", "any 4"])
        every.remove()
        opened.remove()
    }

    @Test @MainActor func `a message is found through its identifier, for a subject and for its type`() {
        let document = Document()
        var seen: [String] = []
        let token = center.addObserver(of: document, for: .saved) { seen.append("document \($0.count)") }
        let every = center.addObserver(of: Document.self, for: .saved) { seen.append("type \($0.count)") }
        center.post(Saved(count: 1), subject: document)
        center.post(Saved(count: 2))
        #expect(seen == ["document 1", "type 1", "type 2"])
        token.remove()
        every.remove()
    }

    @Test @MainActor func `releasing the token ends the observation`() {
        var count = 0
        var token: NotificationCenter.ObservationToken? = center.addObserver(for: Saved.self) { _ in
            count += 1
        }
        center.post(Saved(count: 1))
        #expect(token != nil)
        token = nil
        center.post(Saved(count: 2))
        #expect(count == 1)
    }

    @Test func `a message for tasks is handled in a task, also if an earlier one is still being handled`()
        async
    {
        let document = Document()
        let (log, gate) = (Log<Int>(), Gate())
        let token = center.addObserver(of: document, for: .loaded) { message in
            if message.count == 0 { await yieldUntil("the second one is handled") { gate.wait(seconds: 0) } }
            log.add(message.count)
            gate.open()
        }
        center.post(Loaded(count: 0), subject: document)
        center.post(Loaded(count: 1), subject: document)
        center.post(Loaded(count: 2), subject: Document())
        await yieldUntil("both are handled") { log.entries.count == 2 }
        #expect(log.entries == [1, 0])
        token.remove()
    }

    @Test func `no handler of a message for tasks begins after the removal`() async throws {
        let log = Log<Int>()
        // While every thread of the tasks is held, no handler can have begun when its observer is removed.
        let count = sysconf(CInt(_SC_NPROCESSORS_ONLN))
        let (held, goOn, threads) = (Shared(), Gate(), Log<BareThread>())
        for _ in 0..<count {
            Task.detached {
                held.increment()
                _ = goOn.wait()
            }
        }
        let center = center
        try await withCheckedThrowingContinuation { (removed: CheckedContinuation<Void, any Error>) in
            do {
                let thread = try BareThread {
                    waitUntil("every thread is held") { held.count == count }
                    for count in 0..<200 {
                        let token = center.addObserver(for: Loaded.self) { _ in log.add(count) }
                        center.post(Loaded(count: count))
                        token.remove()
                    }
                    goOn.open()
                    removed.resume()
                }
                threads.add(thread)
            } catch { removed.resume(throwing: error) }
        }
        for thread in threads.entries { thread.join() }
        let last = Gate()
        let token = center.addObserver(for: Loaded.self) { _ in last.open() }
        center.post(Loaded(count: -1))
        await yieldUntil("a later task has run") { last.wait(seconds: 0) }
        token.remove()
        #expect(log.entries.isEmpty)
    }

    @Test func `a sequence keeps the newest messages of its subject`() async {
        let document = Document()
        let (ready, posted) = (Gate(), Gate())
        let center = center
        let sequence = center.messages(of: document, for: Loaded.self, bufferSize: 3)
        let task = Task { () -> [Int] in
            var seen: [Int] = []
            for await message in sequence {
                if message.count == 0 {
                    ready.open()
                    await yieldUntil("all are posted") { posted.wait(seconds: 0) }
                }
                seen.append(message.count)
                if message.count == 9 { break }
            }
            return seen
        }
        await yieldUntil("the sequence observes") {
            center.post(Loaded(count: 0), subject: document)
            return ready.wait(seconds: 0)
        }
        for count in 1..<10 { center.post(Loaded(count: count), subject: document) }
        center.post(Loaded(count: 100), subject: Document())
        posted.open()
        #expect(await task.value.suffix(3) == [7, 8, 9])
    }

    @Test @MainActor func `an observer of every name gets no message`() {
        let log = Log<String>()
        let token = center.addObserver(forName: nil, object: nil, queue: nil) { log.add($0.name.rawValue) }
        center.post(Saved(count: 1))
        center.post(Loaded(count: 1))
        center.removeObserver(token)
        #expect(log.entries.isEmpty)
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<MessageTests.Saved> {
    fileprivate static var saved: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<MessageTests.Loaded> {
    fileprivate static var loaded: Self { .init() }
}

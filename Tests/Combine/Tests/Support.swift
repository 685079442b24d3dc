import Foundation
import FoundationRunLoops
import OpenCombine
import Testing

import class RunLoops.RunLoopThread

/// A list to which any thread adds, and for whose length any thread waits.
final class Entries<Entry>: @unchecked Sendable {
    private let changed = NSCondition()
    private var stored: [Entry] = []

    var all: [Entry] { changed.withLock { stored } }

    func add(_ entry: Entry) {
        changed.withLock {
            stored.append(entry)
            changed.broadcast()
        }
    }

    /// Waits until the list has a number of entries; the deadline only catches a hang.
    func wait(for count: Int) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        return changed.withLock {
            while stored.count < count { if !changed.wait(until: deadline) { return false } }
            return true
        }
    }
}

/// Carries a value between the threads of a test.
struct Carried<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// Starts a thread whose loop runs, and ends it after the body.
func withLoop(_ body: (RunLoop) throws -> Void) throws {
    let thread = try RunLoopThread(name: "combine")
    defer {
        thread.stop()
        thread.join()
    }
    try body(thread.runLoop)
}

/// A subscriber that requests what it is told to, and keeps what it gets.
final class Recorder<Input>: Subscriber, @unchecked Sendable {
    typealias Failure = Never

    let inputs = Entries<Input>()
    let subscriptions = Entries<any Subscription>()
    private let first: Subscribers.Demand
    private let next: (Input) -> Subscribers.Demand

    init(_ first: Subscribers.Demand, next: @escaping (Input) -> Subscribers.Demand = { _ in .none }) {
        self.first = first
        self.next = next
    }

    func receive(subscription: any Subscription) {
        subscriptions.add(subscription)
        if first != .none { subscription.request(first) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        inputs.add(input)
        return next(input)
    }

    func receive(completion: Subscribers.Completion<Never>) {}
}

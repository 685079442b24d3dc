import Notifications
import RunLoops
import Synchronization
import TestSupport

/// An observer of the removal stress, registered in one of the ways, that checks each of its calls.
final class WatchedObserver: Sendable {
    /// An object whose method is called for the observer, and whose destruction ends the observation.
    private final class Relay: Sendable {
        let watched: WatchedObserver
        init(_ watched: WatchedObserver) { self.watched = watched }
        func take(_ note: Notification) { watched.take(note, onLoop: nil) }
        // No call of the object can start or be running.
        deinit { watched.wasRemoved(afterWaiting: true) }
    }

    private let stage: StressStage
    /// The owner that can end the observation: one of these two.
    private let token = Guarded<ObservationToken?>(nil)
    private let relay = Guarded<Relay?>(nil)
    /// The capacity of a redirected observer, for the messages about violations.
    private let way = Guarded("")
    private let calls = Shared()
    private let running = Shared()
    private let hasEnded = Shared()
    /// The tick of the removal.
    private let removal = Shared(.max)
    /// The latest tick after which a call started.
    private let latestStart = Shared()
    /// For each stream, the last number that was seen.
    private let last = (0..<StressStage.streamCount).map { _ in Shared() }

    /// Registers the observer.
    init(_ stage: StressStage, _ random: inout SplitMix64) {
        self.stage = stage
        let name = ([nil] + stage.names).randomElement(using: &random) ?? nil
        let object = ([nil] + stage.feeds).randomElement(using: &random) ?? nil
        let center = stage.center
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let relay = Relay(self)
            self.relay.withLock { $0 = relay }
            center.addObserver(relay, name: name, object: object) { $0.take($1) }
        case 1:
            keep(center.addObserver(for: StressStage.Tick.self) { self.take($0.stream, $0.number, nil) })
        case 2, 3: keep(center.addObserver(forName: name, object: object) { self.take($0, onLoop: nil) })
        default: redirect(name, object, &random)
        }
    }

    private func keep(_ token: ObservationToken) { self.token.withLock { $0 = token } }

    private func redirect(_ name: Notification.Name?, _ object: Feed?, _ random: inout SplitMix64) {
        let capacities: [NotificationCenter.Capacity] = [
            .unlimited, .unlimited, .bounded(3, .dropOldest), .bounded(3, .dropNewest),
            .bounded(2, .block(atMost: .milliseconds(1))), .coalescing(.onName),
            .coalescing([.onName, .onSender]),
        ]
        let capacity = capacities.randomElement(using: &random) ?? .unlimited
        let index = Int.random(in: 0..<StressStage.loopCount, using: &random)
        way.withLock { $0 = "\(capacity)" }
        let loop = stage.loops[index]
        if loop.isCurrent {
            keep(
                loop.addObserver(forName: name, object: object, in: stage.center, capacity: capacity) {
                    self.take($0, onLoop: index)
                })
        } else {
            keep(
                stage.center.addObserver(forName: name, object: object, on: loop, capacity: capacity) {
                    self.take($0, onLoop: index)
                })
        }
    }

    private func take(_ note: Notification, onLoop index: Int?) {
        guard let stream = note.userInfo["stream"] as? Int, let number = note.userInfo["number"] as? Int
        else { return stage.violations.add("called with something that nobody posts") }
        take(stream, number, index)
    }

    private func take(_ stream: Int, _ number: Int, _ loop: Int?) {
        let actor = loop.map(StressStage.actor(ofLoop:)) ?? StressStage.actor(of: stream)
        running.increment()
        calls.increment()
        stage.calls.increment()
        if loop != nil { stage.callsOnLoops.increment() }
        if let loop, !stage.loops[loop].isCurrent { stage.violations.add("called on another thread") }
        let start = stage.start(of: actor)
        latestStart.value.max(start, ordering: .acquiringAndReleasing)
        if start > removal.count { stage.violations.add("a call started after the removal") }
        if hasEnded.count > 0 { stage.violations.add("a call ran after waiting for its end") }
        let before = last[stream].value.exchange(number, ordering: .acquiringAndReleasing)
        if before == number { stage.violations.add("called twice for one post") }
        if before > number {
            let place = loop.map { "on loop \($0), \(way.withLock { $0 })" } ?? "on the posting thread"
            stage.violations.add("out of order: \(number) of stream \(stream) after \(before), \(place)")
        }
        if !StressStage.isNested(stream) { stage.act(actor) }
        stage.advance(actor)
        running.value.subtract(1, ordering: .acquiringAndReleasing)
    }

    /// Ends the observation once, in one of the ways.
    func end(mayWait: Bool, _ random: inout SplitMix64) {
        let way = Int.random(in: 0..<4, using: &random)
        let isMethod = relay.withLock { $0 != nil }
        switch way {
        case 0,
            1 where isMethod:
            if isMethod { removeRelay() } else { token.withLock { $0 }?.remove() }
            wasRemoved(afterWaiting: false)
        case 1 where mayWait:
            token.withLock { $0 }?.removeAndWait()
            wasRemoved(afterWaiting: true)
        case 2 where mayWait && !isMethod:
            awaitRemoval()
            wasRemoved(afterWaiting: true)
        default:
            // An observation ends with its last token. An object logs its own destruction.
            dropToken()
            dropRelay()
            if !isMethod { wasRemoved(afterWaiting: false) }
        }
    }

    private func removeRelay() {
        if let relay = relay.withLock({ $0 }) { stage.center.removeObserver(relay) }
    }

    private func awaitRemoval() {
        let token = token.withLock { $0 }
        let gate = Gate()
        Task(executorPreference: stage.executor) {
            await token?.removed()
            gate.open()
        }
        if !gate.wait() { stage.violations.add("the end did not come") }
    }

    /// Releases the object whose method was removed; until then, a late call would be noticed.
    func letGo() { dropRelay() }

    // In functions of their own, so that each object is released when its function returns, outside the lock.
    private func dropToken() { _ = token.withLock { $0.take() } }
    private func dropRelay() { _ = relay.withLock { $0.take() } }

    /// Notes that the removal has returned.
    private func wasRemoved(afterWaiting: Bool) {
        if removal.count < .max { return }
        removal.value.store(stage.clock.increment(), ordering: .sequentiallyConsistent)
        stage.removals.increment()
        if !afterWaiting { return }
        stage.waits.increment()
        hasEnded.increment()
        if running.count > 0 { stage.violations.add("a call runs after waiting for its end") }
    }

    /// Checks the counts, when nothing is in progress.
    func check() {
        if latestStart.count > removal.count { stage.violations.add("a call started after the removal") }
        guard let delivered = token.withLock({ $0 })?.statistics?.delivered else { return }
        if delivered != calls.count { stage.violations.add("counted \(delivered) for \(calls.count) calls") }
    }
}

import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications

/// An observer on a loop of its own, which notes what it gets.
final class Observer: Sendable {
    let log = Log<DistributedNotificationEvent>()
    private let thread: RunLoopThread
    private let observation: DistributedObservation
    private let center: DistributedNotificationCenter

    /// Observes, and returns when the subscription is confirmed.
    init(
        _ center: DistributedNotificationCenter, name: String? = "A", sender: String? = nil,
        startingWith start: DistributedNotificationCenter.Start = .now
    ) throws {
        self.center = center
        thread = try RunLoopThread(name: "observer")
        let log = self.log
        observation = center.addObserver(
            forName: name, sender: sender, on: thread.runLoop, startingWith: start
        ) { log.add($0) }
        #expect(observation.waitUntilConfirmed(before: .hang))
    }

    deinit {
        observation.remove()
        thread.stop()
    }

    /// The numbers of the notifications so far.
    var numbers: [UInt64] {
        log.entries.compactMap { if case .notification(let note) = $0 { note.number } else { nil } }
    }

    /// The gaps so far.
    var gaps: [DistributedNotificationGap] {
        log.entries.compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
    }

    func waitForNumber(_ number: UInt64) {
        waitUntil("number \(number) has come") { numbers.last.map { $0 >= number } ?? false }
    }

    /// Checks that all numbers up to the last were delivered once and in order, or are in a gap before the next delivery.
    func expectAccounted(upTo last: UInt64, lostAtMost most: Int = 0) {
        var next: UInt64 = 1
        var lost = 0
        for event in log.entries {
            switch event {
            case .notification(let note):
                #expect(note.number == next, "\(note.number) came where \(next) was due")
                next = max(next, note.number + 1)
            case .gap(let gap):
                #expect(gap.from == next, "a gap from \(gap.from) came where \(next) was due")
                guard let end = gap.to else { continue }
                lost += Int(end - gap.from + 1)
                next = max(next, end + 1)
            }
        }
        #expect(next == last + 1, "the last was \(next - 1), not \(last)")
        #expect(lost <= most, "\(lost) are in gaps")
    }
}

extension DistributedNotificationCenter {
    /// Posts numbered payloads, which wait for room.
    func post(_ numbers: ClosedRange<Int>, as name: String = "A") throws {
        for number in numbers {
            try post(name, payload: Array("\(number)".utf8), whenFull: .block(atMost: .seconds(60)))
        }
    }

    func waitUntilConnected() { waitUntil("the center is connected") { connectionState == .connected } }

    /// Waits until the center is away, and returns the reason.
    func waitUntilAway(_ words: String) {
        waitUntil("the center is away because of \"\(words)\", and not \(connectionState)") {
            if case .away(_, let error) = connectionState { "\(error)".contains(words) } else { false }
        }
    }

    /// Stops the thread of the center while something is done, as if its process was stopped.
    func whileStopped(_ body: () throws -> Void) throws {
        let (isStopped, goesOn) = (Gate(), Gate())
        state.loop.performInEveryMode {
            isStopped.open()
            _ = goesOn.wait()
        }
        #expect(isStopped.wait())
        defer { goesOn.open() }
        try body()
    }

    /// Posts, and waits until the server has all.
    func postAll(_ numbers: ClosedRange<Int>) throws {
        try post(numbers)
        waitUntil("the server has them") { statistics.accepted == numbers.upperBound }
    }
}

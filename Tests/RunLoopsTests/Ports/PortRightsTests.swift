import TestSupport
import Testing

@testable import RunLoops

/// The life of a port's rights, as a value: the counts, and the events after which the receiver gets a notice.
@Suite struct PortRightsTests {
    @Test func `the last of several rights is the one that counts`() {
        var rights = PortRights()
        rights.makeSendRight()
        rights.makeSendRight()
        #expect(rights.requestNotice() == .nothing)
        #expect(rights.dropSendRight() == .nothing)
        #expect(rights.sendRights == 1)
        #expect(rights.dropSendRight() == .queueNotice)
        #expect(rights.noticeArrives(isWanted: true) == .callHandler)
        #expect(rights.requestNotice() == .nothing)
    }

    @Test func `a notice is stale if a right was made since, and comes again when that has gone`() {
        var rights = PortRights()
        rights.makeSendRight()
        _ = rights.requestNotice()
        #expect(rights.dropSendRight() == .queueNotice)
        rights.makeSendRight()
        #expect(rights.noticeArrives(isWanted: true) == .nothing)
        #expect(rights.dropSendRight() == .queueNotice)
        rights.makeSendRight()
        #expect(rights.dropSendRight() == .nothing)
        #expect(rights.noticeArrives(isWanted: true) == .queueNotice)
        #expect(rights.noticeArrives(isWanted: true) == .callHandler)
    }

    @Test func `a notice without a handler is delivered after the next request`() {
        var rights = PortRights()
        #expect(rights.requestNotice() == .nothing)
        rights.makeSendRight()
        #expect(rights.dropSendRight() == .queueNotice)
        rights.cancelNotice()
        #expect(rights.noticeArrives(isWanted: false) == .nothing)
        #expect(rights.requestNotice() == .queueNotice)
        #expect(rights.noticeArrives(isWanted: true) == .callHandler)
    }

    @Test func `send-once rights are counted apart`() {
        var rights = PortRights()
        _ = rights.requestNotice()
        rights.makeSendOnceRight()
        rights.makeSendOnceRight()
        #expect(rights.sendRights == 0)
        #expect(rights.sendOnceRights == 2)
        rights.endSendOnceRight()
        rights.end()
        rights.endSendOnceRight()
        #expect(rights.sendOnceRights == 0)
    }

    @Test func `in any order of events, each time without rights gives one notice`() {
        var steps = 0
        explore(PortRights(), Expected(), depth: 8, &steps)
        #expect(steps > 40_000)
    }

    private enum Event: CaseIterable { case make, drop, ask, stop, arrive, end }

    /// The conditions that must hold, derived from the events only.
    private struct Expected {
        var rights = 0
        var made = 0
        var madeWhenQueued: Int?
        var told: Set<Int> = []
        var isWanted = false
        var hasEnded = false

        var mustTell: Bool {
            isWanted && !hasEnded && rights == 0 && made > 0 && !told.contains(made)
        }

        /// Notes an event.
        ///
        /// - Returns: False if the event cannot happen now.
        mutating func happen(_ event: Event) -> Bool {
            switch event {
            case .make:
                rights += 1
                made += 1
            case .drop:
                if rights == 0 { return false }
                rights -= 1
            case .ask: isWanted = true
            case .stop:
                if !isWanted { return false }
                isWanted = false
            case .arrive: return madeWhenQueued != nil
            case .end:
                if hasEnded { return false }
                hasEnded = true
            }
            return true
        }

        /// Checks the answer of the state machine.
        mutating func accept(_ action: PortRights.Action, of event: Event) -> Bool {
            if event == .arrive {
                let isTrue = madeWhenQueued == made
                madeWhenQueued = nil
                if (action == .callHandler) != (mustTell && isTrue) { return false }
            }
            switch action {
            case .nothing: break
            case .callHandler:
                if event != .arrive { return false }
                told.insert(made)
            case .queueNotice:
                if madeWhenQueued != nil || !mustTell { return false }
                madeWhenQueued = made
            }
            // No receiver that must get a notice waits for ever.
            return !mustTell || madeWhenQueued != nil
        }
    }

    private func explore(_ rights: PortRights, _ expected: Expected, depth: Int, _ steps: inout Int) {
        if depth == 0 { return }
        for event in Event.allCases {
            var (rights, expected) = (rights, expected)
            guard expected.happen(event) else { continue }
            steps += 1
            var action = PortRights.Action.nothing
            switch event {
            case .make: rights.makeSendRight()
            case .drop: action = rights.dropSendRight()
            case .ask: action = rights.requestNotice()
            case .stop: rights.cancelNotice()
            case .arrive: action = rights.noticeArrives(isWanted: expected.isWanted)
            case .end: rights.end()
            }
            if !expected.accept(action, of: event) || rights.sendRights != expected.rights {
                Issue.record("\(event) led to \(action): \(rights), \(expected)")
                continue
            }
            explore(rights, expected, depth: depth - 1, &steps)
        }
    }
}

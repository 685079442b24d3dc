import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// The end of an observation, and its guarantees.
@Suite struct ObservationTokenTests {
    @Test func `an observation ends when the last copy of its token is destroyed`() {
        let center = NotificationCenter()
        let log = Log<String>()
        var token: ObservationToken? = center.addObserver(forName: .a) { note in log.add(note.text) }
        var copy = token
        token = nil
        center.post(Notification(.a, "one copy is left"))
        #expect(copy != nil)
        copy = nil
        center.post(Notification(.a, "none is left"))
        #expect(log.entries == ["one copy is left"])
        #expect(center.names.snapshot(for: .a) == nil)
    }

    @Test func `after its removal a handler is not called, though its token still exists`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let tokens = (0..<3).map { _ in center.addObserver(forName: .a) { note in log.add(note.text) } }
        tokens[0].remove()
        center.removeObserver(tokens[1])
        tokens[2].removeAndWait()
        center.post(name: .a)
        #expect(log.entries.isEmpty)
    }

    @Test func `a stale token removes no other observation`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        var stale: [ObservationToken] = []
        var current: [ObservationToken] = []
        for id in 0..<50 {
            let token = center.addObserver(forName: .a) { _ in log.add(-1) }
            token.remove()
            stale.append(token)
            current.append(center.addObserver(forName: .a) { _ in log.add(id) })
            for token in stale {
                token.remove()
                center.removeObserver(token)
                token.removeAndWait()
            }
        }
        stale = []
        center.post(name: .a)
        #expect(log.entries == Array(0..<50))
        for token in current { token.remove() }
    }

    @Test func `a handler may remove itself, and is called once`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let tokens = Log<ObservationToken>()
        tokens.add(
            center.addObserver(forName: .a) { _ in
                for token in tokens.entries { token.remove() }
                center.post(name: .a)
                log.add("called")
            })
        center.post(name: .a)
        center.post(name: .a)
        #expect(log.entries == ["called"])
    }

    @Test func `objects that a handler holds are released when it is removed`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let canary = Canary { log.add("gone") }
        let token = center.addObserver(forName: .a) { [canary] _ in canary.sing() }
        center.post(name: .a)
        _ = consume canary
        log.add("removing")
        token.remove()
        log.add("removed")
        #expect(log.entries == ["removing", "gone", "removed"])
    }

    @Test func `objects that a handler holds outlive the call in which it is removed, and not the post`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let tokens = Log<ObservationToken>()
        do {
            let canary = Canary { log.add("gone") }
            tokens.add(
                center.addObserver(forName: .a) { note in
                    if note.text == "inner" { return }
                    for token in tokens.entries { token.remove() }
                    center.post(Notification(.a, "inner"))
                    log.add("call ends")
                    canary.sing()
                })
        }
        center.post(name: .a)
        log.add("posted")
        #expect(log.entries == ["call ends", "gone", "posted"])
    }

    @Test func `objects that handlers hold are released with the center, though the tokens still exist`() {
        let log = Log<String>()
        var center: NotificationCenter? = NotificationCenter()
        weak let alive = center
        let tokens = [Notification.Name.a, nil].map { name in
            let canary = Canary { log.add("gone") }
            return center?.addObserver(forName: name) { _ in canary.sing() }
        }
        center = nil
        #expect(alive == nil)
        #expect(log.entries == ["gone", "gone"])
        for token in tokens {
            token?.remove()
            token?.removeAndWait()
        }
    }

    @Test func `tokens are equal if they are of the same observation`() {
        let center = NotificationCenter()
        let token = center.addObserver(forName: .a) { _ in }
        let other = center.addObserver(forName: .a) { _ in }
        #expect(token == token)
        #expect(token != other)
        #expect(Set([token, other, token]).count == 2)
    }

    @Test func `a token of another center is its own center's`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let token = center.addObserver(forName: .a) { note in log.add(note.text) }
        let other = NotificationCenter()
        let bystander = other.addObserver(forName: .a) { _ in log.add("bystander") }
        other.removeObserver(token)
        center.post(name: .a)
        other.post(name: .a)
        #expect(log.entries == ["bystander"])
        bystander.remove()
    }

    @Test func `waiting inside another handler is legal`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let victim = center.addObserver(forName: .b) { _ in log.add("victim") }
        let token = center.addObserver(forName: .a) { _ in
            center.post(name: .b)
            victim.removeAndWait()
            log.add("waited")
            center.post(name: .b)
        }
        center.post(name: .a)
        #expect(log.entries == ["victim", "waited"])
        token.remove()
    }

    @Test func `waiting inside the observation's own handler is misuse, also from a post inside it`() async {
        let direct = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = NotificationCenter()
            let tokens = Log<ObservationToken>()
            tokens.add(
                center.addObserver(forName: .a) { _ in for token in tokens.entries { token.removeAndWait() } }
            )
            center.post(name: .a)
        }
        let nested = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = NotificationCenter()
            let tokens = Log<ObservationToken>()
            tokens.add(center.addObserver(forName: .a) { _ in center.post(name: .b) })
            let inner = center.addObserver(forName: .b) { _ in
                for token in tokens.entries { token.removeAndWait() }
            }
            center.post(name: .a)
            inner.remove()
        }
        for result in [direct, nested] {
            let message = result?.message ?? ""
            #expect(
                message.contains("ObservationToken.removeAndWait: called from the observation's own handler"))
            #expect(message.contains("call remove()"))
        }
    }
}

import Glibc
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import Streams

/// Names are resolved by few threads, even if name servers are silent.
@Suite struct NameResolverTests {
    /// A resolver with a silent name server: names that begin with "silent" are held at a gate, and others have an address.
    private final class Silence: Sendable {
        let gate = Gate()
        let held = Shared()
        let most = Shared()
        let asked = Log<String>()

        var resolver: NameResolver {
            NameResolver { [self] name in
                asked.add(name)
                guard name.hasPrefix("silent") else { return .success([Silence.address]) }
                let count = held.increment() + 1
                _ = most.value.max(count, ordering: .acquiringAndReleasing)
                _ = gate.wait()
                held.value.subtract(1, ordering: .acquiringAndReleasing)
                return .failure(.unresolved(ResolutionError(host: name, resolverCode: EAI_AGAIN)))
            }
        }

        static var address: SocketAddress {
            SocketAddress(host: "192.0.2.1", port: 0) ?? SocketAddress(kernel: [])
        }
    }

    // Guarantees: Names that nobody awaits any more occupy at most 20 threads, and keep no other name waiting while there are
    // fewer.
    @Test(arguments: [4, 16, 800])
    func `names of a silent server that nobody awaits any more keep no other name waiting`(count: Int) throws
    {
        let silence = Silence()
        let resolver = silence.resolver
        defer {
            silence.gate.open()
            waitUntil("all threads have ended") { resolver.threadCounts.all == 0 }
        }
        for number in 0..<count {
            let ticket = resolver.ask("silent \(number)") { _ in Issue.record("an answer that was given up") }
            let expected = min(number + 1, NameResolver.threadLimit)
            waitUntil("the name is looked up, or waits") { silence.held.count == expected }
            resolver.giveUp(ticket)
            #expect(resolver.threadCounts.all == expected)
        }
        let answers = Log<NameAnswer>()
        _ = resolver.ask("good") { answers.add($0) }
        if count < NameResolver.threadLimit {
            waitUntil("the good name is found") { answers.entries == [.success([Silence.address])] }
        } else {
            #expect(answers.entries == [])
            #expect(silence.asked.entries.count == NameResolver.threadLimit)
            silence.gate.open()
            waitUntil("the good name is found") { answers.entries == [.success([Silence.address])] }
        }
        #expect(silence.most.count == min(count, NameResolver.threadLimit))
    }

    @Test func `as long as they are awaited, names of a silent server have at most four threads`() throws {
        let silence = Silence()
        let resolver = silence.resolver
        let answers = Log<NameAnswer>()
        for number in 0..<800 { _ = resolver.ask("silent \(number)") { answers.add($0) } }
        waitUntil("four names are looked up") { silence.held.count == NameResolver.useLimit }
        #expect(resolver.threadCounts == (NameResolver.useLimit, 0))
        silence.gate.open()
        waitUntil("all are answered") { answers.entries.count == 800 }
        #expect(silence.most.count == NameResolver.useLimit)
        waitUntil("all threads have ended") { resolver.threadCounts.all == 0 }
    }

    @Test func `a loop gets the addresses with the port, and asks once for a name that it awaits twice`()
        throws
    {
        try onLoopThread { loop in
            let silence = Silence()
            let resolver = silence.resolver
            var answers: [String] = []
            for host in ["silent", "good", "192.0.2.7", "localhost", "silent", "LocalHost.", "a.localhost"] {
                resolver.resolve(host: host, port: 70, on: loop, inModes: [.default], within: .seconds(600)) {
                    let text = (try? $0.get().map { "\($0)" }) ?? ["none"]
                    answers.append("\(host) \(text.joined(separator: " "))")
                }
            }
            #expect(answers == [], "no handler is called inside the call")
            loop.run(until: "all but the silent ones") { answers.count == 5 }
            #expect(
                Set(answers) == [
                    "good 192.0.2.1:70", "192.0.2.7 192.0.2.7:70", "localhost [::1]:70 127.0.0.1:70",
                    "LocalHost. [::1]:70 127.0.0.1:70", "a.localhost [::1]:70 127.0.0.1:70",
                ])
            silence.gate.open()
            loop.run(until: "all") { answers.count == 7 }
            #expect(silence.asked.entries.count == 2, "for the name that is silent, and for the good one")
        }
    }

    @Test func `a name that waits for a thread fails at its own deadline, and others do not`() throws {
        try onLoopThread { loop in
            let silence = Silence()
            let resolver = silence.resolver
            for number in 0..<NameResolver.threadLimit {
                let ticket = resolver.ask("silent \(number)") { _ in }
                waitUntil("it is looked up") { silence.held.count == number + 1 }
                resolver.giveUp(ticket)
            }
            var answers: [String] = []
            func ask(_ host: String, _ timeout: Duration?) -> LoopLookUp {
                resolver.resolve(host: host, port: 1, on: loop, inModes: [.default], within: timeout) {
                    answers.append("\(host): \($0 == .failure(.timedOut) ? "timed out" : "an answer")")
                }
            }
            _ = (ask("first", .milliseconds(20)), ask("second", nil), ask("third", .seconds(Int64.max)))
            let cancelled = ask("fourth", .milliseconds(1))
            cancelled.cancel()
            loop.run(until: "one has timed out") { !answers.isEmpty }
            #expect(answers == ["first: timed out"])
            _ = ask("localhost", .milliseconds(20))
            loop.run(until: "localhost") { answers.count == 2 }
            #expect(answers.last == "localhost: an answer")
            silence.gate.open()
            loop.run(until: "the others are found") { answers.count == 4 }
            #expect(Set(answers.dropFirst(2)) == ["second: an answer", "third: an answer"])
            #expect(!silence.asked.entries.contains("first") && !silence.asked.entries.contains("fourth"))
            cancelled.cancel()
        }
    }

    @Test func `the end of a loop gives up its names`() throws {
        let silence = Silence()
        let resolver = silence.resolver
        try onLoopThread { loop in
            for number in 0..<3 {
                resolver.resolve(
                    host: "silent \(number)", port: 1, on: loop, inModes: [.default], within: nil
                ) {
                    _ in Issue.record("an answer after the end")
                }
            }
            waitUntil("all are looked up") { silence.held.count == 3 }
        }
        waitUntil("nobody awaits them") { resolver.threadCounts == (3, 3) }
        silence.gate.open()
        waitUntil("all threads have ended") { resolver.threadCounts.all == 0 }
    }

    // Guarantees: Names that nobody awaits any more occupy at most 20 threads, and keep no other name waiting while there are
    // fewer.
    @Test func `connections that have ended keep no other connection waiting for its name`() throws {
        try onLoopThread { loop in
            defer {
                // The resolver asks a second time for a name that was not found.
                waitUntil("all threads have ended") {
                    Faults.releaseNames()
                    return NameResolver.shared.threadCounts.all == 0
                }
            }
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { _ in }
            let port = try #require(listener.localAddress.port)
            var ended = 0
            for number in 0..<NameResolver.useLimit {
                let connection = Connection(connectingTo: .tcp(host: "\(number).held.test", port: port))
                connection.onEnd { _, _ in ended += 1 }
                try loop.add(connection, forMode: .default)
                loop.run(until: "the name is looked up") { Faults.heldNames == number + 1 }
                connection.close()
            }
            var connected: [String] = []
            for host in ["localhost", "127.0.0.1", "1.found.test"] {
                let connection = Connection(connectingTo: .tcp(host: host, port: port))
                connection.onConnect {
                    connected.append(host)
                    $0.close()
                }
                try loop.add(connection, forMode: .default)
            }
            loop.run(until: "the others are connected") { connected.count == 3 && ended == 4 }
            #expect(Faults.heldNames == NameResolver.useLimit)
            listener.invalidate()
        }
    }

    @Test func `a connection that is destroyed while its name is looked up gives up the name`() throws {
        try onLoopThread { loop in
            func abandoned() -> Int { NameResolver.shared.threadCounts.abandoned }
            do {
                let connection = Connection(connectingTo: .tcp(host: "destroyed.held.test", port: 1))
                try loop.add(connection, forMode: .default)
                // Until the end of this pass, the loop holds the connection.
                loop.pass()
                loop.run(until: "the name is looked up") { Faults.heldNames == 1 }
                loop.remove(connection, forMode: .default)
            }
            loop.pass()
            #expect(abandoned() == 1)
            waitUntil("all threads have ended") {
                Faults.releaseNames()
                return NameResolver.shared.threadCounts.all == 0
            }
        }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 256), "a\0b", "café.invalid",
        String(repeating: "é", count: 127) + ".",
    ])
    func `a text that is no name is an error of its connection`(host: String) throws {
        try onLoopThread { loop in
            let connection = Connection(connectingTo: .tcp(host: host, port: 1))
            var reason: Connection.EndReason?
            connection.onEnd { reason = $1 }
            try loop.add(connection, forMode: .default)
            loop.run()
            switch try #require(reason) {
            case .unresolved(let error): #expect(error.host == host)
            case .failed(let error): #expect(error.code == EINVAL && host.utf8.contains(0))
            default: Issue.record("\(String(describing: reason))")
            }
        }
    }
}

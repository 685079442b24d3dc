import Foundation
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// Servers, and other clients of a server, that mean harm: the process lives on, and so do its loops.
@Suite struct HostileServerTests {
    // Guarantees: No entry that another client adds ends the process.
    @Test(
        arguments: [
            ["k", "e", "p", "00000000000000000000000000000001", "n", "18446744073709551615"],
            ["k", "e", "p", "00000000000000000000000000000001", "n", "9223372036854775807"],
            [
                "k", "h", "p", "00000000000000000000000000000001", "n", "1", "b",
                "18446744073709551615 0 5 1 -1 A\n",
            ],
            ["p", "00000000000000000000000000000000", "n", "1", "b", ""],
        ])
    func `an entry with an extreme number ends no observer, and the next post arrives`(fields: [String])
        throws
    {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center(), try server.center())
        let observer = try Observer(center, name: nil)
        try poster.postAll(1...2)
        observer.waitForNumber(2)
        let stream = try server.command("KEYS", "dn:*:s:*")
        try inject(["XADD", stream, "*"] + fields, server)
        try poster.postAll(3...4)
        observer.waitForNumber(4)
        #expect(observer.numbers == [1, 2, 3, 4])
        // Another observer reads the same entry from the stream.
        let late = try Observer(center, name: nil, startingWith: .since(timeSince1970: .zero))
        late.waitForNumber(4)
    }

    @Test(arguments: ["18446744073709551615", "9223372036854775807", "-1", "x"])
    func `a field of the posters with an extreme number ends no observer`(number: String) throws {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center(), try server.center())
        try poster.postAll(1...2)
        let hash = try server.command("KEYS", "dn:*:p:*")
        let other = "000000000000000000000000000000ff"
        try server.command("HSET", hash, other, number)
        let observer = try Observer(center, name: nil)
        let stream = try server.command("KEYS", "dn:*:s:*")
        try inject(["XADD", stream, "*", "k", "e", "p", other, "n", number], server)
        try poster.postAll(3...4)
        observer.waitForNumber(4)
    }

    private func inject(_ words: [String], _ server: RedisServerProcess) throws {
        let client = Process()
        client.executableURL = URL(filePath: "/usr/bin/redis-cli")
        client.arguments = ["-s", server.path] + words
        client.standardOutput = FileHandle.nullDevice
        try client.run()
        client.waitUntilExit()
        #expect(client.terminationStatus == 0)
    }

    // Guarantees: No bytes that a server sends end the process.
    @Test func `whatever a server replies, the center lives on and can be ended`() throws {
        let replies = Guarded(HostileReplies(random: SplitMix64(seed: 1)))
        let asked = Shared()
        let server = try ScriptedServer { question in
            asked.increment()
            return replies.withLock { replies in
                switch question {
                case .greeting: []
                case .scan: replies.scan(isLast: asked.count % 2 == 0).sent
                case .read: replies.live().sent
                case .locate: Wired.array([.integer("1"), .null]).sent
                }
            }
        }
        let thread = try RunLoopThread(name: "observer")
        defer { thread.stop() }
        // A center connects again after a reply that is none, but after growing pauses. A new one begins at once.
        for number in 1...100 {
            let center = try server.center()
            let starts: [DistributedNotificationCenter.Start] = [
                .now, .last(3), .since(timeSince1970: .zero),
            ]
            let observations = starts.map {
                center.addObserver(forName: nil, on: thread.runLoop, startingWith: $0) { _ in }
            }
            waitUntil("the server has been asked") { asked.count >= number * 3 }
            for observation in observations { observation.remove() }
            center.invalidate()
        }
    }

    @Test(arguments: [
        "INFO", "SCRIPT LOAD", "EVALSHA 0", "CLIENT ID", "SUBSCRIBE __redis__:invalidate", "CLIENT TRACKING",
        "CLIENT CACHING", "GET dn:{default}:gen", "EVALSHA 1",
    ])
    func `whatever a server replies to a command of the greeting or to a post, the center lives on`(
        command: String
    ) throws {
        let replies = Guarded(HostileReplies(random: SplitMix64(seed: 1)))
        let asked = Shared()
        let server = try ScriptedServer { question in
            switch question {
            case .greeting(let name):
                if name != command { return [] }
                asked.increment()
                return replies.withLock { $0.any().sent }
            case .scan:
                return Wired.array([.array([]), .text("0-1"), .text("0-1"), .array([]), .array([])]).sent
            case .read: return []
            case .locate: return Wired.array([]).sent
            }
        }
        for number in 1...20 {
            let center = try server.center()
            try center.post("A")
            waitUntil("the server has been asked") { asked.count >= number }
            center.invalidate()
        }
    }

    // Guarantees: A reply of any length is handled in small steps, between which the loop serves its other inputs.
    @Test
    func `a reply with thousands of entries is delivered in small parts, between which the loop goes on`()
        throws
    {
        let count = 20_000
        let entries = (1...count).map { number in
            var batch = PostBatch()
            let poster = PosterID(high: 0, low: 5)
            batch.append(
                Post(
                    poster: poster, number: UInt64(number), previous: UInt64(number - 1),
                    topic: Topic(name: "A", sender: nil)))
            return Wired.array([
                .text("\(number)-1"),
                .array([
                    .text("p"), .text(poster.text), .text("n"), .text("\(number)"), .text("b"),
                    .bytes(batch.bytes),
                ]),
            ])
        }
        let hasRead = Shared()
        let read = Wired.array([.array([.text("stream"), .array(entries)])]).sent
        let scan = Wired.array([.array([]), .text("0-1"), .text("0-1"), .array([]), .array([])]).sent
        let server = try ScriptedServer { question in
            switch question {
            case .greeting: return []
            case .scan: return scan
            case .read:
                hasRead.increment()
                return hasRead.count == 1 ? read : []
            case .locate: return Wired.array([]).sent
            }
        }
        let center = try server.center()
        // The observer's loop is busy, so that its lane drops, and counts, what the center's loop hands over.
        let thread = try RunLoopThread(name: "observer")
        let isOver = Gate()
        thread.runLoop.perform { _ = isOver.wait() }
        defer {
            isOver.open()
            thread.stop()
        }
        let observation = center.addObserver(
            forName: "A", on: thread.runLoop, capacity: .bounded(1, .dropOldest)
        ) { _ in }
        let progress = Log<Int>()
        // Each pass of the center's loop runs this block once.
        @Sendable func look() {
            progress.add(observation.statistics.dropped)
            if observation.statistics.dropped < count - 1 { center.state.loop.performInEveryMode { look() } }
        }
        center.state.loop.performInEveryMode { look() }
        waitUntil("all were handed over") { progress.entries.last == count - 1 }
        let jumps = zip(progress.entries.dropFirst(), progress.entries).map { $0 - $1 }
        #expect(jumps.max() ?? 0 <= 128 * 64, "\(jumps.max() ?? 0) notifications came in one pass")
        observation.remove()
    }
}

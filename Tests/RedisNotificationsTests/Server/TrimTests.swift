import DistributedNotifications
import RedisNotifications
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A center that is stopped while the server removes what it has not read.
@Suite struct TrimTests {
    // Guarantees: Posts that were removed from the stream before a center has read them are in gaps, even if their poster posts
    // nothing more or has ended.
    @Test func `what is removed from the stream before it was read is a gap`() throws {
        let server = try RedisServerProcess("--stream-node-max-entries", "10")
        let (poster, center) = (try server.center { $0.streamLengthLimit = 20 }, try server.center())
        let observer = try Observer(center)
        try center.whileStopped { try poster.postAll(1...500) }
        observer.waitForNumber(500)
        observer.expectAccounted(upTo: 500, lostAtMost: 490)
        #expect(!observer.gaps.isEmpty && observer.gaps.allSatisfy { $0.reason == .notKept })
        // From then on nothing is missing.
        for number in 501...530 {
            try poster.post(number...number)
            observer.waitForNumber(UInt64(number))
        }
        observer.expectAccounted(upTo: 530, lostAtMost: 490)
    }

    // Guarantees: Posts that were removed from the stream before a center has read them are in gaps, even if their poster posts
    // nothing more or has ended.
    @Test func `a poster of which nothing is left is told, though it posts no more`() throws {
        let server = try RedisServerProcess("--stream-node-max-entries", "10")
        let quiet = try server.center { $0.streamLengthLimit = 20 }
        let (poster, center) = (try server.center { $0.streamLengthLimit = 20 }, try server.center())
        let observer = try Observer(center)
        try center.whileStopped {
            // In an entry each: the center may read one of them before it is stopped.
            for number in 1...5 { try quiet.postAll(number...number) }
            try poster.postAll(1...500)
        }
        waitUntil("the quiet poster is accounted for") {
            observer.log.entries.contains { event in
                if case .gap(let gap) = event { gap.poster == quiet.poster && gap.to == 5 } else { false }
            }
        }
        observer.waitForNumber(500)
    }

    // Guarantees: Posts that were removed from the stream before a center has read them are in gaps, even if their poster posts
    // nothing more or has ended.
    @Test(arguments: ["horizons", "end", "nothing"])
    func `posts that were removed are told, whatever is left of their poster`(left: String) throws {
        let server = try RedisServerProcess("--stream-node-max-entries", "1")
        let gone = try server.center { $0.retention = .zero }
        let (poster, center) = (try server.center(), try server.center())
        let observer = try Observer(center)
        try center.whileStopped {
            // In an entry each: the center may read one of them before it is stopped.
            for number in 1...5 { try gone.postAll(number...number) }
            waitUntil("they are settled") { gone.statistics.kept == 0 }
            // It says at its next connection that it sends them no more.
            if left == "horizons" {
                try server.command("CLIENT", "KILL", "TYPE", "pubsub")
                waitUntil("it has announced") {
                    isLast("h", server)
                }
            } else {
                gone.invalidate()
                waitUntil("its end is there") {
                    isLast("e", server)
                }
            }
            if left == "nothing" { try poster.postAll(1...1) }
            try server.command("XTRIM", stream(server), "MAXLEN", "1")
        }
        waitUntil("the lost posts are accounted for") {
            observer.log.entries.contains { event in
                if case .gap(let gap) = event { gap.poster == gone.poster && gap.to == 5 } else { false }
            }
        }
        // Nothing is said of them twice.
        try poster.postAll(left == "nothing" ? 2...2 : 1...1)
        waitUntil("the last post has come") {
            observer.log.entries.last.map {
                if case .notification(let note) = $0 { note.poster == poster.poster } else { false }
            } ?? false
        }
        #expect(observer.gaps.filter { $0.poster == gone.poster }.count == 1)
    }

    // Guarantees: After the database was emptied, every post of a poster that is still running is either delivered or in a gap.
    @Test func `a reader that was stopped while the stream was deleted is told, though nobody posts`() throws
    {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center { $0.retention = .zero }, try server.center())
        let observer = try Observer(center)
        try center.whileStopped {
            try poster.postAll(1...100)
            waitUntil("they are settled") { poster.statistics.kept == 0 }
            try server.command("DEL", stream(server))
        }
        waitUntil("all are accounted for") {
            observer.gaps.contains { $0.to == 100 } || observer.numbers.last == 100
        }
        observer.expectAccounted(upTo: 100, lostAtMost: 100)
    }

    @Test func `a center that was away reads on where it was, if that is still there`() throws {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center(), try server.center())
        let observer = try Observer(center)
        // Of another name, so that the observer's own last post is long before the reader's place.
        try poster.post(1...600, as: "B")
        try poster.post(601...700)
        observer.waitForNumber(700)
        try server.command("CLIENT", "KILL", "TYPE", "pubsub")
        try poster.post(701...800)
        observer.waitForNumber(800)
        #expect(observer.numbers == Array(601...800) && observer.gaps.isEmpty)
    }

    /// True if the newest entry is of a kind.
    private func isLast(_ kind: String, _ server: RedisServerProcess) -> Bool {
        do {
            let entry = try server.command("XREVRANGE", stream(server), "+", "-", "COUNT", "1")
            return entry.contains("\nk\n\(kind)\n")
        } catch { return false }
    }
}

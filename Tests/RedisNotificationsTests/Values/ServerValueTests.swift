import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// The facts about a server, and the account of the posts that it has accepted.
@Suite struct ServerValueTests {
    @Test(arguments: [
        ("redis_version:7.0.15\r\nrun_id:a\r\nmaster_replid:b\r\nrole:master\r\n", nil),
        ("redis_version:6.2.0\nrun_id:a\nmaster_replid:b\nrole:master\n", nil),
        (
            "redis_version:6.0.16\r\nrun_id:a\r\nrole:master\r\n",
            "it is of version 6.0.16, and 6.2 or later is needed"
        ),
        (
            "redis_version:7.0\r\nrun_id:a\r\nrole:slave\r\n",
            "it is a replica, which accepts no posts; connect to its primary"
        ),
        ("redis_version:x\r\nrun_id:a\r\n", "its version is \"x\", which is no version"),
        ("OK", "it does not say with INFO which server it is"),
        (
            "run_id:a\u{2028}b\r\nredis_version:\u{1B}[2J99999999999999999999.0\r\n",
            "its version is \"\\u{1b}[2J99999999999999999999.0\", which is no version"
        ),
    ])
    func `a server that cannot be used has a flaw`(text: String, flaw: String?) {
        #expect(ServerInfo(text.utf8).flaw == flaw)
    }

    private func posts(_ most: Int = .max, bytes: Int = .max) -> AcceptedPosts {
        AcceptedPosts(.init(time: .seconds(3), posts: most, bytes: bytes))
    }

    @Test func `posts are settled when they were kept long enough, and not before`() {
        var posts = posts()
        let start = ContinuousClock.now
        for (number, time) in [(1, 0), (2, 50), (3, 120), (2, 130)] {
            posts.accept(UInt64(number), posts: 1, bytes: 100, now: start + .milliseconds(time))
        }
        #expect(posts.accepted == 3 && posts.settled == 0 && posts.due == start + .milliseconds(3_050))
        let changes = [3_049, 3_050, 3_119, 3_120].map { posts.settle(now: start + .milliseconds($0)) }
        #expect(changes == [false, true, false, true] && posts.settled == 3 && posts.due == nil)
    }

    @Test func `after a connection what is not settled is accepted anew`() {
        var posts = posts()
        let start = ContinuousClock.now
        posts.accept(5, posts: 5, bytes: 500, now: start)
        posts.restart()
        #expect(posts.accepted == 0 && posts.due == nil)
        posts.accept(5, posts: 5, bytes: 500, now: start + .seconds(1))
        #expect(posts.due == start + .seconds(4))
    }

    @Test(arguments: [(posts: 320, bytes: Int.max), (posts: .max, bytes: 32_000)])
    func `beyond the limits the oldest posts are kept for less time, and few at once`(
        most: (posts: Int, bytes: Int)
    ) {
        var posts = posts(most.posts, bytes: most.bytes)
        let start = ContinuousClock.now
        for number in 1...10_000 as ClosedRange<UInt64> {
            posts.accept(number, posts: 1, bytes: 100, now: start)
            let kept = number - posts.settled
            #expect(kept <= 320 && kept >= min(number, 300))
        }
        posts.restart()
        posts.accept(10_000, posts: 320, bytes: 32_000, now: start)
        #expect(posts.settled < 10_000, "the limit counts only what this connection has accepted")
    }
}

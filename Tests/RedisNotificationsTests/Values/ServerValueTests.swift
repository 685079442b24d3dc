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
    ])
    func `a server that cannot be used has a flaw`(text: String, flaw: String?) {
        #expect(ServerInfo(text).flaw == flaw)
    }

    @Test func `posts are settled when they were kept long enough, and not before`() {
        var posts = AcceptedPosts(retention: .seconds(3))
        let start = ContinuousClock.now
        posts.accept(1, now: start)
        posts.accept(2, now: start + .milliseconds(50))
        posts.accept(3, now: start + .milliseconds(120))
        posts.accept(2, now: start + .milliseconds(130))
        #expect(posts.accepted == 3 && posts.settled == 0 && posts.due == start + .milliseconds(3_050))
        let changes = [3_049, 3_050, 3_119, 3_120].map { posts.settle(now: start + .milliseconds($0)) }
        #expect(changes == [false, true, false, true] && posts.settled == 3 && posts.due == nil)
    }

    @Test func `after a connection what is not settled is accepted anew`() {
        var posts = AcceptedPosts(retention: .seconds(3))
        let start = ContinuousClock.now
        posts.accept(5, now: start)
        posts.restart()
        #expect(posts.accepted == 0 && posts.due == nil)
        posts.accept(5, now: start + .seconds(1))
        #expect(posts.due == start + .seconds(4))
    }
}

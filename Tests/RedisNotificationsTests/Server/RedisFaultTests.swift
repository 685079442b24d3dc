import DistributedNotifications
import Foundation
import RedisNotifications
import TestExpectations
import TestSupport
import Testing

/// Faults of a server: what is lost is told, the state of the connection names the cause, and everything goes on afterwards.
@Suite struct RedisFaultTests {
    // Guarantees: A server that is killed and loses nothing makes no gap.
    @Test func `a server that is killed and starts again loses nothing, and makes no gap`() throws {
        let server = try RedisServerProcess("--appendonly", "yes", "--appendfsync", "always")
        let (poster, center) = (try server.center(), try server.center())
        let observer = try Observer(center)
        let threads = try Threads(1) { _ in try poster.post(1...3_000) }
        observer.waitForNumber(500)
        server.kill()
        try server.start()
        try threads.join()
        observer.waitForNumber(3_000)
        observer.expectAccounted(upTo: 3_000)
    }

    // Guarantees: When the server restarts, an observer gets no notifications from before its subscription, unless it has asked for
    // them.
    @Test func `after a restart an observer gets nothing from before its subscription`() throws {
        let server = try RedisServerProcess("--appendonly", "yes", "--appendfsync", "always")
        let (ended, poster) = (try server.center(), try server.center())
        try ended.postAll(1...50)
        try poster.postAll(1...50)
        ended.invalidate()
        waitUntil("its end is there") {
            do { return try server.command("HLEN", posters(server)) == "1" } catch { return false }
        }
        let center = try server.center()
        let observer = try Observer(center)
        server.kill()
        try server.start()
        try poster.postAll(51...60)
        observer.waitForNumber(60)
        #expect(observer.numbers == Array(51...60) && observer.gaps.isEmpty)
        // One that ends while it is observed is told once, too.
        let late = try Observer(center, startingWith: .since(timeSince1970: .zero))
        late.waitForNumber(60)
        #expect(observer.numbers == Array(51...60) && observer.gaps.isEmpty)
    }

    // Guarantees: If a server loses posts, living posters send those of the last ``RedisOptions/retention`` again that they still
    // keep.
    @Test func `what a server loses from the end of its file is sent again`() throws {
        let server = try RedisServerProcess("--appendonly", "yes", "--appendfsync", "always")
        let poster = try server.center { $0.retention = .seconds(60) }
        let center = try server.center()
        let observer = try Observer(center)
        try poster.post(1...50)
        observer.waitForNumber(50)
        let file = try server.appendOnlyFile
        let kept = try Data(contentsOf: file)
        // As if the clock had been ahead: the entries after the restart have lower IDs than those that the center has read.
        try server.command("XADD", stream(server), "9999999999999-0", "a", "b")
        try poster.post(51...100)
        observer.waitForNumber(100)
        try center.whileStopped {
            server.kill()
            try kept.write(to: file)
            try server.start()
            try poster.postAll(101...110)
        }
        observer.waitForNumber(110)
        observer.expectAccounted(upTo: 110)
        // The server has them all again.
        let late = try Observer(center, startingWith: .since(timeSince1970: .zero))
        late.waitForNumber(110)
        late.expectAccounted(upTo: 110)
    }

    @Test(arguments: [1, 40, 700])
    func `a file that is cut anywhere in its last entries loses nothing for good`(bytes: Int) throws {
        let server = try RedisServerProcess("--appendonly", "yes", "--appendfsync", "always")
        let poster = try server.center { $0.retention = .seconds(60) }
        let observer = try Observer(try server.center())
        try poster.post(1...100)
        observer.waitForNumber(100)
        let file = try server.appendOnlyFile
        server.kill()
        let whole = try Data(contentsOf: file)
        try whole.dropLast(bytes).write(to: file)
        try server.start()
        try poster.post(101...110)
        observer.waitForNumber(110)
        observer.expectAccounted(upTo: 110)
        let late = try Observer(try server.center(), startingWith: .since(timeSince1970: .zero))
        late.waitForNumber(110)
        late.expectAccounted(upTo: 110)
    }

    @Test func `what a server loses of a poster that it had not met before is told`() throws {
        let server = try RedisServerProcess("--appendonly", "yes", "--appendfsync", "always")
        let (first, center) = (try server.center(), try server.center())
        let observer = try Observer(center)
        try first.postAll(1...1)
        observer.waitForNumber(1)
        let file = try server.appendOnlyFile
        let kept = try Data(contentsOf: file)
        let poster = try server.center { $0.retention = .zero }
        try center.whileStopped {
            // In an entry each: the center may read one of them before it is stopped.
            for number in 1...5 { try poster.postAll(number...number) }
            waitUntil("they are settled") { poster.statistics.kept == 0 }
            server.kill()
            try kept.write(to: file)
            try server.start()
        }
        waitUntil("the lost posts are accounted for") {
            observer.gaps.contains { $0.poster == poster.poster && $0.to == 5 }
        }
        #expect(observer.gaps.allSatisfy { $0.poster == poster.poster })
    }

    // Guarantees: After the database was emptied, every post of a poster that is still running is either delivered or in a gap.
    @Test(arguments: ["FLUSHALL", "FLUSHALL, lower clock", "DEL stream", "DEL generation", "SET generation"])
    func `a database that is emptied begins a new generation, in which nothing is missing in silence`(
        fault: String
    ) throws {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center(), try server.center())
        let observer = try Observer(center)
        if fault == "FLUSHALL, lower clock" {
            // The entries of the next generation have lower IDs than those that the center has read.
            try server.command("XADD", stream(server), "9999999999999-0", "a", "b")
        }
        try poster.post(1...100)
        observer.waitForNumber(100)
        let generation = try server.command("GET", "dn:{test}:gen")
        // The center reads the next generation only when it has entries that the center must not skip.
        try center.whileStopped {
            switch fault {
            case "FLUSHALL", "FLUSHALL, lower clock": try server.command("FLUSHALL")
            case "DEL stream": try server.command("DEL", stream(server))
            case "DEL generation": try server.command("DEL", "dn:{test}:gen")
            default: try server.command("SET", "dn:{test}:gen", String(repeating: "7", count: 32))
            }
            try poster.postAll(101...150)
        }
        try poster.post(151...200)
        observer.waitForNumber(200)
        observer.expectAccounted(upTo: 200)
        #expect(try server.command("GET", "dn:{test}:gen") != generation)
    }

    @Test func `a poster that does not come to the next generation is given up, and taken up when it comes`()
        throws
    {
        let server = try RedisServerProcess()
        var limits = DistributedNotificationCenter.Options()
        limits.reconnectTimeout = .milliseconds(300)
        let (stopped, living) = (try server.center(), try server.center())
        let observer = try Observer(try server.center(limits: limits))
        try stopped.postAll(1...5)
        try living.postAll(1...5)
        waitUntil("all have come") { observer.numbers.count == 10 }
        try stopped.whileStopped {
            try server.command("FLUSHALL")
            waitUntil("the stopped poster is given up") { !observer.gaps.isEmpty }
            #expect(observer.gaps.map(\.poster) == [stopped.poster])
            #expect(observer.gaps.first?.from == 6 && observer.gaps.first?.to == nil)
        }
        try stopped.postAll(6...7)
        try living.postAll(6...7)
        waitUntil("all have come") { observer.numbers.count == 14 }
        #expect(observer.gaps.count == 1)
    }

    @Test func `an address that moves to another living server, and back, hides no loss`() throws {
        let servers = [try RedisServerProcess(), try RedisServerProcess()]
        let address = servers[0].path + ".address"
        func move(to server: Int) throws {
            try? FileManager.default.removeItem(atPath: address)
            try FileManager.default.createSymbolicLink(
                atPath: address, withDestinationPath: servers[server].path)
            for kind in ["normal", "pubsub"] {
                try servers[1 - server].command("CLIENT", "KILL", "TYPE", kind)
            }
        }
        try move(to: 0)
        let poster = try servers[0].center(through: address) { $0.retention = .zero }
        let center = try servers[0].center(through: address)
        let observer = try Observer(center)
        try poster.post(1...50)
        observer.waitForNumber(50)
        for (number, server) in [(51, 1), (111, 0)] {
            try center.whileStopped {
                try poster.postAll(number...(number + 49))
                waitUntil("they are settled") { poster.statistics.kept == 0 }
                try move(to: server)
                try poster.postAll((number + 50)...(number + 59))
            }
            observer.waitForNumber(UInt64(number + 59))
            observer.expectAccounted(upTo: UInt64(number + 59), lostAtMost: 100)
        }
        #expect(!observer.gaps.isEmpty)
    }

    // Guarantees: A post that is sent again is in the stream once.
    @Test(arguments: ["normal", "pubsub"])
    func `connections that the server closes are made again, and nothing is lost`(kind: String) throws {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center(), try server.center())
        let observer = try Observer(center)
        let states = Log<String>()
        let watcher = Task { for await state in center.connectionStates { states.add("\(state)") } }
        let threads = try Threads(1) { _ in try poster.post(1...2_000) }
        observer.waitForNumber(100)
        for _ in 0..<5 {
            try server.command("CLIENT", "KILL", "TYPE", kind)
            center.waitUntilConnected()
        }
        try threads.join()
        observer.waitForNumber(2_000)
        observer.expectAccounted(upTo: 2_000)
        watcher.cancel()
        #expect(states.entries.contains { $0.hasPrefix("away") })
        // A post that was sent again is in the stream once. Entries that are not posts begin with another field.
        let countPosts = """
            local count=0
            for _,e in ipairs(redis.call('XRANGE',KEYS[1],'-','+')) do
             if e[2][1]=='p' then
              local b,i=e[2][6],1
              while i<#b do i,count=i+4+struct.unpack('<I4',b,i),count+1 end
             end
            end
            return count
            """
        #expect(try server.command("EVAL", countPosts, "1", stream(server)) == "2000")
    }

    @Test func `a center waits for a server that is not there, and says so`() throws {
        let server = try RedisServerProcess(isStarted: false)
        let center = try server.center()
        center.waitUntilAway("No such file or directory")
        try center.post(1...3)
        try server.start()
        center.waitUntilConnected()
        waitUntil("the posts are accepted") { center.statistics.accepted == 3 }
    }

    @Test func `a wrong password is named, and a right one connects`() throws {
        let server = try RedisServerProcess("--requirepass", "right")
        let wrong = try server.center { $0.password = "wrong" }
        wrong.waitUntilAway("WRONGPASS")
        let none = try server.center()
        none.waitUntilAway("NOAUTH")
        let right = try server.center { $0.password = "right" }
        right.waitUntilConnected()
        _ = try Observer(right)
    }

    @Test func `a replica is named, which accepts no posts`() throws {
        let server = try RedisServerProcess("--replicaof", "127.0.0.1 1")
        let center = try server.center()
        center.waitUntilAway("it is a replica")
        try server.command("REPLICAOF", "NO", "ONE")
        center.waitUntilConnected()
    }

    @Test func `a server that becomes a replica is left, and posts wait`() throws {
        let server = try RedisServerProcess()
        let center = try server.center()
        let observer = try Observer(center)
        try center.post(1...5)
        observer.waitForNumber(5)
        try server.command("REPLICAOF", "127.0.0.1", "1")
        try center.post(6...10)
        center.waitUntilAway("replica")
        try server.command("REPLICAOF", "NO", "ONE")
        observer.waitForNumber(10)
        observer.expectAccounted(upTo: 10)
    }

    // Guarantees: The reason that a connection ends is in the center's state.
    @Test func `a server that is out of memory is named, and posts wait`() throws {
        let server = try RedisServerProcess()
        let center = try server.center()
        let observer = try Observer(center)
        try center.post(1...5)
        observer.waitForNumber(5)
        try server.command("CONFIG", "SET", "maxmemory", "1")
        try center.post(6...10)
        center.waitUntilAway("OOM")
        try server.command("CONFIG", "SET", "maxmemory", "0")
        observer.waitForNumber(10)
        observer.expectAccounted(upTo: 10)
    }

    @Test(arguments: ["generation", "stream"])
    func `a key of another type is named`(key: String) throws {
        let server = try RedisServerProcess()
        let center = try server.center()
        let observer = try Observer(center)
        try center.post(1...5)
        observer.waitForNumber(5)
        let name = try key == "stream" ? stream(server) : "dn:{test}:gen"
        // At once, or the center would make the key in between.
        try server.command("EVAL", "redis.call('DEL',KEYS[1]) redis.call('RPUSH',KEYS[1],'x')", "1", name)
        try center.post(6...10)
        center.waitUntilAway("WRONGTYPE")
        try server.command("DEL", name)
        observer.waitForNumber(10)
        observer.expectAccounted(upTo: 10)
    }

    @Test func `entries of others in the stream are left out`() throws {
        let server = try RedisServerProcess()
        let center = try server.center()
        let observer = try Observer(center)
        try server.command("XADD", stream(server), "*", "a", "b")
        try server.command("XADD", stream(server), "*", "p", "no poster", "n", "1", "v", "7", "t", "A")
        try center.post(1...5)
        observer.waitForNumber(5)
        observer.expectAccounted(upTo: 5)
    }
}

import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// The script that adds posts, run by a server.
@Suite struct ScriptTests {
    private static let poster = PosterID(high: 1, low: 2)

    @Test func `posts that the stream has are cut from a batch that is sent again`() throws {
        let server = try RedisServerProcess()
        try begin(server)
        #expect(try add(1...3, to: server) == "1")
        #expect(try add(1...3, to: server) == "1")
        #expect(try add(2...5, to: server) == "1")
        #expect(try add(4...5, to: server) == "1")
        #expect(try add(7...9, to: server) == "1")
        #expect(try numbers(server) == "1 2 3,4 5,7 8 9")
        #expect(try server.command("HGET", "posters", Self.poster.text) == "9")
    }

    @Test func `nothing is added to another generation, or to a stream that is gone`() throws {
        let server = try RedisServerProcess()
        try begin(server)
        #expect(try add(1...3, to: server, generation: "2") == "-1")
        #expect(try add(1...3, to: server) == "1")
        try server.command("DEL", "stream")
        #expect(try add(4...5, to: server) == "-1")
        #expect(try server.command("HGET", "posters", Self.poster.text) == "3")
        #expect(try server.command("EXISTS", "stream") == "0")
    }

    @Test func `posts are refused while posts that came before them were`() throws {
        let server = try RedisServerProcess()
        try begin(server)
        #expect(try add(1...3, to: server) == "1")
        #expect(try add(7...8, to: server, follows: 6) == "-2")
        #expect(try announce(upTo: 9, to: server, follows: 6) == "-2")
        #expect(try add(4...6, to: server, follows: 3) == "1")
        #expect(try add(7...8, to: server, follows: 6) == "1")
        #expect(try announce(upTo: 9, to: server, follows: 8) == "1")
        #expect(try add(10...10, to: server, follows: 9) == "1")
        #expect(try numbers(server) == "1 2 3,4 5 6,7 8,10")
    }

    @Test func `horizons are the first ones of a poster that the generation does not know`() throws {
        let server = try RedisServerProcess()
        try begin(server)
        #expect(try announce(upTo: 9, to: server) == "1")
        #expect(try announce(upTo: 12, to: server) == "1")
        // As after a loss of the server's newest entries, of which the poster knows.
        try server.command("DEL", "posters")
        #expect(try announce(upTo: 12, to: server, wasAdded: true) == "1")
        let script = """
            local firsts={}
            for _,e in ipairs(redis.call('XRANGE','stream','-','+')) do
             if e[2][1]=='f' then firsts[#firsts+1]=e[2][2] end
            end
            return table.concat(firsts,' ')
            """
        #expect(try server.command("EVAL", script, "0") == "1 0 0")
        #expect(try server.command("HGET", "posters", Self.poster.text) == "12")
    }

    @Test func `the server keeps the last ends, and the place of the newest one that it has forgotten`()
        throws
    {
        let server = try RedisServerProcess()
        try begin(server)
        for number: UInt64 in 1...4 {
            let poster = PosterID(high: 0, low: number)
            #expect(try add(1...number, to: server, by: poster) == "1")
            #expect(
                try server.command(
                    "EVAL", Scripts.end, "4", "gen", "stream", "posters", "ends", "1", "1000", poster.text,
                    "\(number + 5)", "2") == "1")
        }
        let kept = try server.command("LRANGE", "ends", "0", "-1").split(separator: "\n")
        #expect(
            kept.map { $0.split(separator: " ").dropLast().joined(separator: " ") } == [
                "\(PosterID(high: 0, low: 3).text) 3 8", "\(PosterID(high: 0, low: 4).text) 4 9",
            ])
        let forgotten = try server.command("HGETALL", "posters").split(separator: "\n")
        #expect(forgotten.count == 2 && forgotten.first == "forgotten")
        let ends = try server.command("XRANGE", "stream", "-", "+")
        // The entry after this place is the first of the third poster.
        #expect(ends.contains("\(forgotten.last ?? "")\nk\ne\np\n\(PosterID(high: 0, low: 2).text)"))
    }

    private func begin(_ server: RedisServerProcess) throws {
        try server.command("SET", "gen", "1")
        try server.command("XADD", "stream", "*", "k", "g")
    }

    /// Runs the script with a batch.
    private func add(
        _ numbers: ClosedRange<UInt64>, to server: RedisServerProcess, generation: String = "1",
        by poster: PosterID = poster, follows: UInt64 = 0
    ) throws -> String {
        var batch = PostBatch()
        for number in numbers {
            batch.append(
                Post(
                    poster: poster, number: number, previous: number - 1,
                    topic: Topic(name: "A", sender: nil), payload: Array("post \(number)".utf8)))
        }
        return try server.command(
            "EVAL", Scripts.post, "3", "gen", "stream", "posters", generation, "1000", poster.text,
            "\(numbers.lowerBound)", "\(numbers.upperBound)", "\(follows)", last: batch.bytes)
    }

    /// Runs the script with horizons.
    private func announce(
        upTo number: UInt64, to server: RedisServerProcess, follows: UInt64 = 0, wasAdded: Bool = false
    ) throws -> String {
        try server.command(
            "EVAL", Scripts.announce, "3", "gen", "stream", "posters", "1", "1000", Self.poster.text,
            "\(number)",
            "\(follows)", wasAdded ? "1" : "0", "k", "h", "p", Self.poster.text, "n", "\(number)", "b", "")
    }

    /// The numbers of the posts of each entry.
    private func numbers(_ server: RedisServerProcess) throws -> String {
        let script = """
            local entries={}
            for _,e in ipairs(redis.call('XRANGE','stream','-','+')) do
             if e[2][1]=='p' then
              local b,i,numbers=e[2][6],1,{}
              while i<#b do
               local size,n=struct.unpack('<I4I8',b,i)
               numbers[#numbers+1]=n
               i=i+4+size
              end
              entries[#entries+1]=table.concat(numbers,' ')
             end
            end
            return table.concat(entries,',')
            """
        return try server.command("EVAL", script, "0")
    }
}

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

    private func begin(_ server: RedisServerProcess) throws {
        try server.command("SET", "gen", "1")
        try server.command("XADD", "stream", "*", "k", "g")
    }

    /// Runs the script with a batch.
    private func add(
        _ numbers: ClosedRange<UInt64>, to server: RedisServerProcess, generation: String = "1"
    ) throws -> String {
        var batch = PostBatch()
        for number in numbers {
            batch.append(
                Post(
                    poster: Self.poster, number: number, previous: number - 1,
                    topic: Topic(name: "A", sender: nil), payload: Array("post \(number)".utf8)))
        }
        return try server.command(
            "EVAL", Scripts.post, "3", "gen", "stream", "posters", generation, "1000", Self.poster.text,
            "\(numbers.lowerBound)", "\(numbers.upperBound)", last: batch.bytes)
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

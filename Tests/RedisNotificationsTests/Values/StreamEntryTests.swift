import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// Entries of the stream, as they are written and read.
@Suite struct StreamEntryTests {
    @Test(arguments: 0..<50) func `what is written is read`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let poster = PosterID(high: .random(in: 0 ... .max, using: &random), low: 7)
        let posts = (1...UInt64.random(in: 1...16, using: &random)).map {
            randomPost(&random, by: poster, number: $0 * 3)
        }
        #expect(read(written(posts)) == .posts(posts))
        let post = posts[0]
        let announcement = Announcement(
            horizons: (0..<Int.random(in: 1...20, using: &random)).map { _ in
                Horizon(
                    poster: post.poster, topic: randomTopic(&random),
                    number: .random(in: 1...1_000, using: &random),
                    isBase: .random(using: &random),
                    reason: DistributedNotificationGap.Reason.all.randomElement(using: &random)
                        ?? .notKept)
            }, number: 7, isOpening: true)
        let fields = words(StreamEntry.fields(of: announcement, by: post.poster))
        #expect(
            read(words(RedisWords("f", "1")) + fields)
                == .horizons(announcement.horizons, by: post.poster, upTo: 7))
        // Horizons of a poster that the generation knows are no base horizons.
        let later = announcement.horizons.map {
            Horizon(poster: $0.poster, topic: $0.topic, number: $0.number, isBase: false, reason: $0.reason)
        }
        for first in [["f", "0"], []] {
            #expect(
                read(first.map { Array($0.utf8) } + fields)
                    == .horizons(later, by: post.poster, upTo: 7))
        }
        let end = words(RedisWords("k", "e", "p", post.poster.text, "n", "3", "l", "9"))
        #expect(read(end) == .end(PosterEnd(poster: post.poster, accepted: 3, last: 9)))
    }

    @Test(arguments: 0..<200) func `an entry with a field changed or left out is read as another one, or not`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var fields = written([randomPost(&random, number: 5), randomPost(&random, number: 6)])
        let index = Int.random(in: 0..<fields.count, using: &random)
        switch seed % 4 {
        case 0: fields.remove(at: index)
        case 1: fields[index] = (0..<5).map { _ in UInt8.random(in: 0...255, using: &random) }
        case 2:
            let place = fields[5].indices.randomElement(using: &random) ?? 0
            fields[5][place] = .random(in: 0...255, using: &random)
        default: fields.removeSubrange(index...)
        }
        // Whatever it is, it is no trap.
        _ = read(fields)
    }

    @Test(arguments: [
        "", "1 0 1 5 -1 A\n", "1 0 9 1 -1 A\n", "1 0 1 1 -1 A", "x 0 1 1 -1 A\n", "1 0 1 -2 -1 A\n",
    ])
    func `horizons that are cut or wrong are no horizons`(text: String) {
        let poster = PosterID(high: 1, low: 2)
        let fields = ["k", "h", "p", poster.text, "n", "1", "b", text].map { Array($0.utf8) }
        #expect(read(fields) == (text.isEmpty ? .horizons([], by: poster, upTo: 1) : .unknown))
    }

    // The numbers do not ascend, or a post follows itself.
    @Test(arguments: [[[2, 1], [2, 1]], [[3, 3]], [[0, 0]]])
    func `posts that are wrong are no posts`(numbers: [[UInt64]]) {
        var batch = PostBatch()
        let poster = PosterID(high: 1, low: 2)
        for number in numbers {
            batch.append(
                Post(
                    poster: poster, number: number[0], previous: number[1],
                    topic: Topic(name: "A", sender: nil)))
        }
        #expect(PostBatch.posts(batch.bytes, of: poster) == nil)
        #expect(PostBatch.posts(batch.bytes.dropLast(), of: poster) == nil)
    }

    @Test func `IDs and identities are read as they are written, and others are not`() {
        let id = EntryID(high: .max, low: 0)
        #expect(
            EntryID(id.text) == id && EntryID("1-2-3") == nil && EntryID("1") == nil && EntryID("a-1") == nil)
        let poster = PosterID(high: 0, low: .max)
        #expect(PosterID(poster.text) == poster && PosterID("0") == nil)
        #expect(PosterID("+" + String(repeating: "1", count: 31)) == nil)
    }

    @Test func `a command is one buffer of counted arguments`() {
        #expect(
            RedisWords("SET", "é", "").command == Array("*3\r\n$3\r\nSET\r\n$2\r\né\r\n$0\r\n\r\n".utf8))
    }

    @Test func `a batch has a record for each post, with its size and number in front`() {
        var random = SplitMix64(seed: 1)
        var batch = PostBatch()
        for number in 1...PostBatch.most.posts {
            #expect(!batch.isFull)
            batch.append(randomPost(&random, number: UInt64(number)))
        }
        #expect(batch.isFull)
        // This is the way in which the script skips posts.
        var rest = batch.bytes[...]
        for number in 1...PostBatch.most.posts {
            let size = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(rest.dropFirst(4).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) } == number)
            rest = rest.dropFirst(4 + size)
        }
        #expect(rest.isEmpty)
    }

    @Test func `a batch of large posts is full early`() {
        var batch = PostBatch()
        let topic = Topic(name: "A", sender: nil)
        batch.append(
            Post(
                poster: PosterID(high: 1, low: 1), number: 1, previous: 0, topic: topic,
                payload: Array(repeating: 0, count: PostBatch.most.bytes)))
        #expect(batch.isFull)
    }

    /// The fields of an entry with posts, as the script adds them.
    private func written(_ posts: [Post]) -> [[UInt8]] {
        var batch = PostBatch()
        for post in posts { batch.append(post) }
        let poster = posts.first?.poster ?? PosterID(high: 0, low: 0)
        return words(RedisWords("p", poster.text, "n", "\(posts.last?.number ?? 0)", "b")) + [batch.bytes]
    }

    /// Splits words in the server's protocol.
    private func words(_ words: RedisWords) -> [[UInt8]] {
        var rest = words.encoded[...]
        var found: [[UInt8]] = []
        while let end = rest.firstIndex(of: 13) {
            let length = Int(String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)) ?? 0
            found.append(Array(rest[(end + 2)..<(end + 2 + length)]))
            rest = rest[(end + 2 + length + 2)...]
        }
        return found
    }

    private func read(_ fields: [[UInt8]]) -> StreamEntry.Content? {
        let entry = Wired.array([.text("5-1"), .array(fields.map { .bytes($0) })])
        guard var reader = entry.value.flatMap({ EntryReader($0) }) else { return nil }
        while true { if let entry = reader.step() { return entry.content } }
    }

    private func randomPost(
        _ random: inout SplitMix64, by poster: PosterID = PosterID(high: 1, low: 2), number: UInt64
    ) -> Post {
        Post(
            poster: poster, number: number, previous: .random(in: 0..<number, using: &random),
            topic: randomTopic(&random), date: .random(in: .min ... .max, using: &random),
            isImmediate: .random(using: &random),
            payload: (0..<Int.random(in: 0...300, using: &random)).map { _ in
                .random(in: 0...255, using: &random)
            })
    }

    private func randomTopic(_ random: inout SplitMix64) -> Topic {
        let names = ["A", "name with spaces\nand lines", "ä€", "1 0 1 1 -1 A\n", ""]
        return Topic(
            name: names.randomElement(using: &random) ?? "",
            sender: Bool.random(using: &random) ? nil : names.randomElement(using: &random))
    }
}

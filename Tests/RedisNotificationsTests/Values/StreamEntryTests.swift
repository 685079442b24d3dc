import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// Entries of the stream, as they are written and read.
@Suite struct StreamEntryTests {
    @Test(arguments: 0..<50) func `what is written is read`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let post = randomPost(&random)
        #expect(read(StreamEntry.fields(of: post)) == .post(post))
        let announcement = Announcement(
            horizons: (0..<Int.random(in: 1...20, using: &random)).map { _ in
                Horizon(
                    poster: post.poster, topic: randomTopic(&random),
                    number: .random(in: 1...1_000, using: &random),
                    isBase: .random(using: &random),
                    reason: DistributedNotificationGap.Reason.allCases.randomElement(using: &random)
                        ?? .notKept)
            }, number: 7, isOpening: true)
        #expect(
            read(StreamEntry.fields(of: announcement, by: post.poster)) == .horizons(announcement.horizons))
        let end = PosterEnd(poster: post.poster, accepted: 3, last: 9)
        #expect(read(StreamEntry.fields(ofEndAt: 9, accepted: 3, by: post.poster)) == .end(end))
    }

    @Test(arguments: 0..<200) func `an entry with a field changed or left out is read as another one, or not`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var fields = StreamEntry.fields(of: randomPost(&random))
        let index = Int.random(in: 0..<fields.count, using: &random)
        switch seed % 3 {
        case 0: fields.remove(at: index)
        case 1: fields[index] = (0..<5).map { _ in UInt8.random(in: 0...255, using: &random) }
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
        #expect(read(fields) == (text.isEmpty ? .horizons([]) : .unknown))
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
        #expect(RedisCommand("SET", "é", "").bytes == Array("*3\r\n$3\r\nSET\r\n$2\r\né\r\n$0\r\n\r\n".utf8))
    }

    private func read(_ fields: [[UInt8]]) -> StreamEntry.Content? {
        StreamEntry(.array([.text(Array("5-1".utf8)), .array(fields.map { .text($0) })]))?.content
    }

    private func randomPost(_ random: inout SplitMix64) -> Post {
        let number = UInt64.random(in: 1...(.max), using: &random)
        return Post(
            poster: PosterID(
                high: .random(in: 0 ... .max, using: &random), low: .random(in: 0...9, using: &random)),
            number: number, previous: .random(in: 0..<number, using: &random), topic: randomTopic(&random),
            date: .random(in: .min ... .max, using: &random), isImmediate: .random(using: &random),
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

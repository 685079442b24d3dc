import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// Replies, as they are read from bytes.
@Suite struct RedisReaderTests {
    private static func random(_ random: inout SplitMix64, depth: Int = 0) -> Wired {
        switch Int.random(in: 0..<(depth == 4 ? 4 : 7), using: &random) {
        case 0: .null
        case 1: .integer("\(Int64.random(in: (.min + 1) ... .max, using: &random))")
        case 2: .error("ERR no")
        case 3:
            .bytes(
                (0..<Int.random(in: 0...300, using: &random)).map { _ in .random(in: 0...255, using: &random)
                })
        default:
            .array(
                (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    Self.random(&random, depth: depth + 1)
                })
        }
    }

    @Test(arguments: 0..<200) func `replies do not depend on where their bytes are cut`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let values = (0..<Int.random(in: 1...8, using: &random)).map { _ in Self.random(&random) }
        let bytes = values.reduce(into: []) { $0 += $1.sent }
        let replies = Wired.replies(in: bytes.cut(&random))
        #expect(replies?.map { Wired($0.value).sent } == values.map(\.sent))
    }

    @Test func `a step reads a limited number of values, and a reply is not made before its end`() throws {
        var reader = RedisReader()
        reader.append(Wired.array(Array(repeating: .integer("1"), count: 1_000)).sent)
        var steps = 0
        while true {
            guard case .reply(let reply) = try reader.step() else {
                steps += 1
                continue
            }
            #expect(reply.value.elements?.left == 1_000)
            break
        }
        #expect(steps == 1_001 / RedisReader.valuesPerStep)
    }

    @Test func `no announced length makes room before its bytes arrive`() throws {
        var limits = RedisReader.Limits()
        limits.bytes = 1_000
        limits.values = 100
        let bodies: [(String, Bool)] = [
            ("$1000\r\n", true), ("$1001\r\n", false), ("*99\r\n", true), ("*100\r\n", false),
            ("*2\r\n$600\r\n\(String(repeating: "a", count: 600))\r\n$600\r\n", false),
            (String(repeating: "*60\r\n", count: 9), false), ("*2\r\n*97\r\n", true),
            ("*2\r\n*60\r\n:1\r\n*60\r\n", true),
            ("$9223372036854775808\r\n", false), ("$+5\r\n", false), ("$5x\r\n", false), ("*-2\r\n", false),
            ("*\r\n", false), (":\r\n", false), (":-\r\n", false),
            ("+" + String(repeating: "a", count: 99), true),
        ]
        for (text, isKept) in bodies {
            #expect((Wired.replies(in: [Array(text.utf8)], limits) != nil) == isKept, "\(text.prefix(30))")
        }
        limits.line = 50
        #expect(Wired.replies(in: [Array(repeating: UInt8(ascii: "+"), count: 51)], limits) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("9223372036854775807", UInt64(Int64.max)), ("9223372036854775808", nil),
            ("18446744073709551615", nil), ("18446744073709551616", nil), ("-1", nil), ("+1", nil), ("", nil),
            ("1 ", nil), ("0x5", nil), ("٣", nil),
        ] as [(String, UInt64?)])
    func `a number from outside is one that can be counted on from, or none`(text: String, number: UInt64?) {
        #expect(OutsideNumber(decimal: text.utf8)?.value == number)
        #expect(Wired.text(text).value?.number?.value == number)
    }
}

import TestSupport

@testable import DistributedNotifications
@testable import RedisNotifications

/// Replies of a server whose other clients, or which itself, write what they like.
struct HostileReplies {
    var random: SplitMix64

    private static let numbers = [
        "0", "1", "2", "5", "9223372036854775806", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "-1", "-9223372036854775807", "", "x", "+1",
        "99999999999999999999999",
    ]
    private static let posters =
        (1...3).map { PosterID(high: 0, low: $0).text } + [
            String(repeating: "0", count: 32), String(repeating: "f", count: 32), "", "zz",
        ]

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
    private mutating func isRare(_ share: Int = 12) -> Bool { Int.random(in: 0..<share, using: &random) == 0 }
    private mutating func number() -> String {
        isRare(8) ? pick(Self.numbers) : pick(Array(Self.numbers[..<6]))
    }
    private mutating func poster() -> String {
        isRare(8) ? pick(Self.posters) : pick(Array(Self.posters[..<3]))
    }

    /// An ID, which is valid with numbers of any 64 bits.
    private mutating func id() -> String {
        isRare(40)
            ? "\(pick(Self.numbers))-\(pick(Self.numbers))"
            : "\(pick(Array(Self.numbers[..<8])))-\(pick(Array(Self.numbers[..<8])))"
    }

    /// A text in the place of which something else can stand.
    private mutating func value(_ text: String) -> Wired {
        if !isRare(300) { return .text(text) }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .null
        case 1: return .integer(pick(["-5", "0", "9223372036854775807"]))
        case 2: return .error("ERR \u{1B}]0;OWNED\u{7}")
        case 3: return .array([.text(text), .array([])])
        default: return .bytes((0..<8).map { _ in .random(in: 0...255, using: &random) })
        }
    }

    private mutating func posts() -> [UInt8] {
        var batch = PostBatch()
        let count = isRare(20) ? 40 : Int.random(in: 0...5, using: &random)
        let extremes: [UInt64] = [0, 1, 2, 3, 9, UInt64(Int64.max) - 1, UInt64(Int64.max), .max - 1, .max]
        var numbers = (0..<count).map { _ in extremes.randomElement(using: &random) ?? 0 }
        if !isRare() { numbers = Set(numbers).sorted() }
        for number in numbers {
            let previous =
                isRare() ? number : (extremes.filter { $0 < number }.randomElement(using: &random) ?? 0)
            batch.append(
                Post(
                    poster: PosterID(high: 0, low: 1), number: number, previous: previous,
                    topic: Topic(name: pick(["A", "B"]), sender: isRare(2) ? nil : "s"),
                    date: [.min, .max, 0].randomElement(using: &random) ?? 0))
        }
        return mutated(batch.bytes)
    }

    private mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        if !bytes.isEmpty && isRare(6) {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
        }
        if isRare(20) { bytes.removeLast(bytes.count / 2) }
        return bytes
    }

    private mutating func entry() -> Wired {
        var fields: [Wired] = []
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            fields = [value("p"), value(poster()), value("n"), value(number()), value("b"), .bytes(posts())]
        case 1:
            let lines = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                "\(number()) \(isRare(3) ? "1" : "0") \(isRare(3) ? number() : "5") 1 -1 A\n"
            }.joined()
            fields = [
                value("f"), value(isRare(2) ? "1" : "0"), value("k"), value("h"), value("p"), value(poster()),
                value("n"), value(number()), value("b"), .bytes(mutated(Array(lines.utf8))),
            ]
        case 2:
            fields = [
                value("k"), value("e"), value("p"), value(poster()), value("n"), value(number()),
            ]
            if isRare(2) { fields += [value("l"), value(number())] }
        default: fields = [value("k"), value("g")]
        }
        if isRare(15), !fields.isEmpty { fields.remove(at: Int.random(in: 0..<fields.count, using: &random)) }
        if isRare(60) { fields = Array(repeating: .text("k"), count: 200) }
        return isRare(200) ? value("entry") : .array([value(id()), .array(fields)])
    }

    private mutating func entries() -> Wired {
        isRare(40) ? value("") : .array((0..<Int.random(in: 0...8, using: &random)).map { _ in entry() })
    }

    /// Any value, or a text of many lines.
    mutating func any() -> Wired {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .null
        case 1:
            return .integer(pick(["0", "1", "-1", "-2", "-9223372036854775807", "9223372036854775807"]))
        case 2: return .error(pick(["ERR no", "MOVED 1 a", ""]))
        case 3: return .array([.array([.text(number())]), .null])
        case 4: return .array([])
        case 5: return .text(number())
        case 6: return .bytes((0..<300).map { _ in .random(in: 0...255, using: &random) })
        default:
            let lines = (0..<30).map { _ in
                pick(["run_id", "redis_version", "role", "master_replid", ""]) + pick([":", "", "::"])
                    + pick(["a", "master", "7.0.0", "99999999999999999999.1", "-1.-1", "..", "\u{1B}[2J"])
                    + pick(["\r\n", "\n", "\r", "\u{2028}", "\u{85}"])
            }
            return .text(lines.joined())
        }
    }

    /// A reply to the script that reads the stream.
    mutating func scan(isLast: Bool) -> Wired {
        var parts = [entries(), value(isRare() ? id() : "1-0")]
        if isLast {
            let posters = (0..<Int.random(in: 0...4, using: &random)).flatMap { _ in
                [value(isRare(5) ? "forgotten" : poster()), value(isRare(5) ? id() : number())]
            }
            let ends = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                value("\(poster()) \(number()) \(number()) \(isRare(3) ? id() : "7-0")")
            }
            parts += [value("9-0"), .array(posters), .array(ends)]
        }
        if isRare(40) { parts.removeLast() }
        return isRare(60) ? value("scan") : .array(parts)
    }

    /// A reply to the command that waits for entries.
    mutating func live() -> Wired {
        isRare(40) ? value("") : .array([.array([value("stream"), entries()])])
    }
}

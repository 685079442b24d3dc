internal import DistributedNotifications

/// A reader of an entry of the stream, in small steps.
///
/// The entries are written by the clients of the server. An entry that is not as this library writes it is
/// ``StreamEntry/Content/unknown``, and has no other effect.
///
/// A pure value.
struct EntryReader: Sendable {
    private enum State: Sendable {
        case done(StreamEntry.Content)
        case horizons(HorizonReader, upTo: OutsideNumber)
    }

    private let id: EntryID
    private var state: State

    /// The maximum number of names and values of an entry of this library, and of the fields of later versions that are skipped.
    private static let mostFields = 32

    /// Begins to read an entry; nil if the value is not an entry.
    init?(_ value: RedisValue) {
        guard var parts = value.elements, parts.left == 2,
            let id = parts.next()?.word.flatMap({ EntryID($0) }), var texts = parts.next()?.elements
        else { return nil }
        self.id = id
        state = .done(.unknown)
        if texts.left > EntryReader.mostFields { return }
        var fields: [String: RedisValue] = [:]
        while let name = texts.next()?.word, let value = texts.next() { fields[name] = value }
        if let read = EntryReader.begin(fields) { state = read }
    }

    private static func begin(_ fields: [String: RedisValue]) -> State? {
        let kind = fields["k"]?.word
        if kind == "g" { return .done(.beginning) }
        guard let poster = fields["p"]?.word.flatMap({ PosterID($0) }), let number = fields["n"]?.number
        else {
            return nil
        }
        switch kind {
        case nil:
            return fields["b"]?.bytes.flatMap { PostBatch.posts($0, of: poster) }.map { .done(.posts($0)) }
        case "h":
            guard let bytes = fields["b"]?.bytes else { return nil }
            let reader = HorizonReader(bytes, of: poster, areFirst: fields["f"]?.word == "1")
            return .horizons(reader, upTo: number)
        case "e":
            let last = fields["l"]?.number
            return .done(.end(PosterEnd(poster: poster, accepted: number.value, last: last?.value)))
        default: return nil
        }
    }

    /// Reads on; returns the entry if it was read to its end.
    mutating func step() -> StreamEntry? {
        switch state {
        case .done(let content): return StreamEntry(id: id, content: content)
        case .horizons(var reader, let number):
            // The reader is changed in place, so that its list is not copied.
            state = .done(.unknown)
            switch reader.step() {
            case .more:
                state = .horizons(reader, upTo: number)
                return nil
            case .invalid: break
            case .end: state = .done(.horizons(reader.horizons, by: reader.poster, upTo: number.value))
            }
            return step()
        }
    }
}

/// A reader of the horizons of an announcement, as ``StreamEntry/fields(of:by:)`` writes them, in small steps.
///
/// A pure value.
struct HorizonReader: Sendable {
    enum Step: Sendable { case more, end, invalid }

    private static let linesPerStep = 64

    let poster: PosterID
    private(set) var horizons: [Horizon] = []
    private var rest: ArraySlice<UInt8>
    private let areFirst: Bool

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - bytes: The field of the entry.
    ///   - poster: The poster.
    ///   - areFirst: True if the poster had no earlier entry in this generation. Only then can ``Horizon/isBase`` be true.
    init(_ bytes: ArraySlice<UInt8>, of poster: PosterID, areFirst: Bool) {
        rest = bytes
        self.poster = poster
        self.areFirst = areFirst
    }

    mutating func step() -> Step {
        for _ in 0..<HorizonReader.linesPerStep {
            if rest.isEmpty { return .end }
            guard let horizon = line() else { return .invalid }
            horizons.append(horizon)
        }
        return .more
    }

    private mutating func line() -> Horizon? {
        guard let number = takeNumber(), let base = takeNumber(), let code = takeNumber(),
            let reason = UInt8(exactly: code.value)
                .flatMap({ DistributedNotificationGap.Reason(number: $0) }),
            let nameLength = takeNumber(), let senderLength = takeLength(), let name = takeText(nameLength)
        else { return nil }
        var sender: String?
        if case .some(let length) = senderLength {
            guard let text = takeText(length) else { return nil }
            sender = text
        }
        guard rest.popFirst() == UInt8(ascii: "\n") else { return nil }
        return Horizon(
            poster: poster, topic: Topic(name: name, sender: sender), number: number.value,
            isBase: base.value == 1 && areFirst, reason: reason)
    }

    /// Takes the digits of a number, and the space behind them.
    private mutating func takeWord() -> ArraySlice<UInt8>? {
        // A number has at most 19 digits.
        guard let space = rest.prefix(20).firstIndex(of: UInt8(ascii: " ")) else { return nil }
        defer { rest = rest[(space + 1)...] }
        return rest[..<space]
    }

    private mutating func takeNumber() -> OutsideNumber? { takeWord().flatMap { OutsideNumber(decimal: $0) } }

    /// Takes a length, or -1 for none; nil if there is neither.
    private mutating func takeLength() -> OutsideNumber?? {
        guard let word = takeWord() else { return nil }
        if word.elementsEqual("-1".utf8) { return .some(nil) }
        return OutsideNumber(decimal: word).map { .some($0) }
    }

    /// Takes a name or a sender, each of which has at most 255 bytes.
    private mutating func takeText(_ length: OutsideNumber) -> String? {
        if length.count > min(rest.count, 255) { return nil }
        defer { rest = rest.dropFirst(length.count) }
        return String(decoding: rest.prefix(length.count), as: UTF8.self)
    }
}

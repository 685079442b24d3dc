internal import DistributedNotifications

/// An entry of the stream: the posts, the horizons or the end of a poster, or the beginning of a generation.
struct StreamEntry: Hashable, Sendable {
    /// The content of an entry, by its kind.
    enum Content: Hashable, Sendable {
        /// The first entry of a generation.
        case beginning
        case posts([Post])
        /// The horizons of a poster; the poster sends no further post with a number up to `upTo`.
        case horizons([Horizon], by: PosterID, upTo: UInt64)
        case end(PosterEnd)
        /// An entry that another program, or a later version of this library, has added.
        case unknown
    }

    let id: EntryID
    let content: Content

    init(id: EntryID, content: Content) {
        self.id = id
        self.content = content
    }

    /// Reads an entry; nil if the reply is not an entry.
    init?(_ reply: RedisReply) {
        guard let parts = reply.elements, parts.count == 2, let id = parts[0].string.flatMap({ EntryID($0) })
        else { return nil }
        self.id = id
        var fields: [String: [UInt8]] = [:]
        let texts = parts[1].elements ?? []
        for index in stride(from: 0, to: texts.count - 1, by: 2) {
            if let name = texts[index].string, let value = texts[index + 1].bytes { fields[name] = value }
        }
        content = StreamEntry.content(Fields(fields)) ?? .unknown
    }

    /// Reads the entries of a reply; nil if the reply is not an array of entries.
    static func entries(_ reply: RedisReply) -> [StreamEntry]? {
        guard let elements = reply.elements else { return nil }
        let entries = elements.compactMap { StreamEntry($0) }
        return entries.count == elements.count ? entries : nil
    }

    /// The fields of an entry, keyed by their names.
    private struct Fields {
        let values: [String: [UInt8]]
        init(_ values: [String: [UInt8]]) { self.values = values }

        func text(_ name: String) -> String? { values[name].map { String(decoding: $0, as: UTF8.self) } }
        func number(_ name: String) -> UInt64? { text(name).flatMap { UInt64($0) } }
    }

    private static func content(_ fields: Fields) -> Content? {
        if fields.text("k") == "g" { return .beginning }
        guard let poster = fields.text("p").flatMap({ PosterID($0) }), let number = fields.number("n") else {
            return nil
        }
        switch fields.text("k") {
        case nil: return fields.values["b"].flatMap { PostBatch.posts($0, of: poster) }.map { .posts($0) }
        case "h":
            let isFirst = fields.text("f") == "1"
            return fields.values["b"].flatMap { horizons($0, of: poster, areFirst: isFirst) }
                .map { .horizons($0, by: poster, upTo: number) }
        case "e": return .end(PosterEnd(poster: poster, accepted: number, last: fields.number("l")))
        default: return nil
        }
    }

    // MARK: - Fields, as name and value in turn. The scripts make those of posts and ends.

    /// Returns the fields of a stream entry that contains an announcement.
    ///
    /// There is one line of text for each horizon. The line contains the horizon's number, base flag and reason, the lengths of the
    /// topic's name and sender, and then that name and sender.
    static func fields(of announcement: Announcement, by poster: PosterID) -> RedisWords {
        var lines = ""
        for horizon in announcement.horizons {
            let sender = horizon.topic.sender
            lines += "\(horizon.number) \(horizon.isBase ? 1 : 0) \(horizon.reason.rawValue) "
            lines += "\(horizon.topic.name.utf8.count) \(sender.map { $0.utf8.count } ?? -1) "
            lines += horizon.topic.name + (sender ?? "") + "\n"
        }
        return RedisWords("k", "h", "p", poster.text, "n", "\(announcement.number)", "b", lines)
    }

    /// Reads the horizons of a poster from the bytes of an entry's field; nil if the bytes are not horizons.
    ///
    /// `areFirst` is true if the poster had no earlier entry in this generation. Only then can ``Horizon/isBase`` be true.
    private static func horizons(_ bytes: [UInt8], of poster: PosterID, areFirst: Bool) -> [Horizon]? {
        var rest = bytes[...]
        var horizons: [Horizon] = []
        func word() -> Int64? {
            guard let space = rest.firstIndex(of: UInt8(ascii: " ")) else { return nil }
            defer { rest = rest[(space + 1)...] }
            return Int64(String(decoding: rest[..<space], as: UTF8.self))
        }
        func text(_ count: Int64) -> String? {
            guard let count = Int(exactly: count), 0...rest.count ~= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return String(decoding: rest.prefix(count), as: UTF8.self)
        }
        while !rest.isEmpty {
            guard let number = word().flatMap({ UInt64(exactly: $0) }), let base = word(),
                let reason = word().flatMap({ UInt8(exactly: $0) })
                    .flatMap({ DistributedNotificationGap.Reason(rawValue: $0) }),
                let nameLength = word(), let senderLength = word(), let name = text(nameLength)
            else { return nil }
            var sender: String?
            if senderLength >= 0 {
                sender = text(senderLength)
                if sender == nil { return nil }
            }
            guard rest.popFirst() == UInt8(ascii: "\n") else { return nil }
            horizons.append(
                Horizon(
                    poster: poster, topic: Topic(name: name, sender: sender), number: number,
                    isBase: base == 1 && areFirst,
                    reason: reason))
        }
        return horizons
    }
}

internal import DistributedNotifications
internal import RunLoops

/// A reply of the server.
///
/// The values of a reply form a tree, which is kept as a flat list of tokens and a few buffers of bytes. So a reply with a million
/// values is released at once, and the values can be read one after another, in small steps.
struct RedisReply: Sendable {
    /// The place of a string in the buffers.
    struct Place: Sendable {
        let buffer: UInt32
        let start: UInt32
        let count: UInt32
    }

    /// A value of the tree.
    enum Token: Sendable {
        case null
        case integer(Int64)
        /// A status or a string; a string can contain any bytes.
        case text(Place)
        case error(Place)
        /// An array; `end` is the index of the token behind its last element.
        case array(count: UInt32, end: UInt32)
    }

    var tokens: [Token] = []
    var buffers: [[UInt8]] = []

    /// The value that contains all others.
    var value: RedisValue { RedisValue(reply: self, index: 0) }

    func bytes(_ place: Place) -> ArraySlice<UInt8> {
        buffers[Int(place.buffer)][Int(place.start)..<Int(place.start) + Int(place.count)]
    }
}

/// A value of a reply.
struct RedisValue: Sendable {
    private let reply: RedisReply
    private let index: Int

    fileprivate init(reply: RedisReply, index: Int) {
        self.reply = reply
        self.index = index
    }

    private var token: RedisReply.Token { reply.tokens[index] }

    /// The index of the token behind this value.
    fileprivate var end: Int {
        if case .array(_, let end) = token { Int(end) } else { index + 1 }
    }

    var isNull: Bool { if case .null = token { true } else { false } }

    /// The text of an error; nil for other values.
    var error: ForeignText? {
        if case .error(let place) = token { ForeignText(utf8: reply.bytes(place)) } else { nil }
    }

    /// The bytes of a string; nil for other values.
    var bytes: ArraySlice<UInt8>? { if case .text(let place) = token { reply.bytes(place) } else { nil } }

    /// The text of a string that a server of this protocol keeps short; nil for other values, and for a longer string.
    ///
    /// Such a text is a part of the protocol, such as an ID. It is compared and parsed, and never shown.
    var word: String? {
        guard let bytes, bytes.count <= RedisValue.longestWord else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let longestWord = 256

    /// The value of an integer; nil for other values.
    var integer: Int64? { if case .integer(let value) = token { value } else { nil } }

    /// The value of an integer that is not negative, or of a string of digits; nil for other values.
    var number: OutsideNumber? {
        switch token {
        case .integer(let value): OutsideNumber(value)
        case .text(let place): OutsideNumber(decimal: reply.bytes(place))
        case .null, .array, .error: nil
        }
    }

    /// The elements of an array; nil for other values.
    var elements: RedisElements? {
        guard case .array(let count, _) = token else { return nil }
        return RedisElements(reply: reply, index: index + 1, left: Int(count))
    }
}

/// The elements of an array that were not taken yet.
struct RedisElements: Sendable {
    private let reply: RedisReply
    private var index: Int
    /// The number of the elements that were not taken yet.
    private(set) var left: Int

    fileprivate init(reply: RedisReply, index: Int, left: Int) {
        self.reply = reply
        self.index = index
        self.left = left
    }

    /// Takes the next element; nil if none is left.
    mutating func next() -> RedisValue? {
        if left == 0 { return nil }
        left -= 1
        let value = RedisValue(reply: reply, index: index)
        index = value.end
        return value
    }
}

internal import DistributedNotifications
internal import RunLoops

/// A reader of replies in the protocol of Redis, version 2, from bytes that arrive in pieces of any size.
///
/// The reader works in steps of bounded length, and its memory is bounded whatever the server sends: the length of a line, the depth
/// of arrays, the number of values, and their bytes. An array reserves no room for elements that have not arrived.
///
/// A pure value.
struct RedisReader: Sendable {
    /// The limits of one reply.
    struct Limits: Sendable {
        /// The bytes of all strings.
        var bytes = 256 << 20
        /// The values, in arrays of any depth.
        var values = 1 << 20
        var depth = 8
        /// The bytes of a line, which is the header of a value, a status or an error.
        var line = 16_384
    }

    /// The bytes do not follow the protocol, or exceed a limit.
    struct Violation: Error, Hashable, Sendable {
        let reason: String
    }

    /// The result of a step.
    enum Step: Sendable {
        case reply(RedisReply)
        /// There is more to read in the bytes that have arrived.
        case more
        /// The bytes that have arrived end within a reply, or behind one.
        case needsBytes
    }

    private enum State: Sendable {
        case line
        /// Some bytes of a string are still to come, and then the end of its line.
        case string(left: Int)
        case stringEnd
    }

    /// An array with elements that were not read yet.
    private struct OpenArray: Sendable {
        let index: Int
        var left: Int
    }

    /// The maximum number of values that one step reads.
    static let valuesPerStep = 256

    private let limits: Limits
    private var state = State.line
    /// The bytes that have arrived, from `position` on not read yet.
    private var input: [UInt8] = []
    private var position = 0
    /// The number of bytes behind `position` that are known to contain no end of a line.
    private var searched = 0
    private var reply = RedisReply()
    private var stored = 0
    private var open: [OpenArray] = []

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Adds bytes that have arrived.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            input.removeFirst(position)
            position = 0
        }
        input += bytes
    }

    /// Reads on, up to the end of a reply, for at most ``valuesPerStep`` values.
    mutating func step() throws(Violation) -> Step {
        for _ in 0..<RedisReader.valuesPerStep {
            switch state {
            case .line:
                guard let line = try takeLine() else { return .needsBytes }
                try read(line)
            case .string(let left):
                let count = min(left, input.count - position)
                reply.buffers[reply.buffers.count - 1] += input[position..<position + count]
                position += count
                if count < left {
                    state = .string(left: left - count)
                    return .needsBytes
                }
                state = .stringEnd
            case .stringEnd:
                guard input.count - position >= 2 else { return .needsBytes }
                guard input[position] == 13, input[position + 1] == 10 else {
                    throw Violation(reason: "Protocol error, a string is longer than it says")
                }
                position += 2
                state = .line
                closeArrays()
            }
            if case .line = state, open.isEmpty, !reply.tokens.isEmpty {
                defer {
                    reply = RedisReply()
                    stored = 0
                }
                return .reply(reply)
            }
        }
        return .more
    }

    /// Takes a line without its end; nil if it has not arrived whole.
    private mutating func takeLine() throws(Violation) -> ArraySlice<UInt8>? {
        let rest = input[position...]
        guard let end = rest.dropFirst(searched).firstIndex(of: 10) else {
            searched = rest.count
            if searched > limits.line { throw Violation(reason: "Protocol error, a line has no end") }
            return nil
        }
        searched = 0
        guard end > position, input[end - 1] == 13, end - position <= limits.line else {
            throw Violation(reason: "Protocol error, a line does not end as it should")
        }
        position = end + 1
        return input[rest.startIndex..<end - 1]
    }

    private mutating func read(_ line: ArraySlice<UInt8>) throws(Violation) {
        let content = line.dropFirst()
        switch line.first {
        case UInt8(ascii: "+"): try add(.text(store(content)))
        case UInt8(ascii: "-"): try add(.error(store(content)))
        case UInt8(ascii: ":"): try add(.integer(integer(content)))
        case UInt8(ascii: "$"):
            guard let count = try length(content) else { return try add(.null) }
            if count > limits.bytes - stored { throw tooLong }
            try append(.text(room(for: count)))
            state = count == 0 ? .stringEnd : .string(left: count)
        case UInt8(ascii: "*"):
            guard let count = try length(content) else { return try add(.null) }
            // The array and each of its elements needs a token.
            if count > limits.values - reply.tokens.count - 1 { throw tooLong }
            if count > 0 && open.count == limits.depth {
                throw Violation(reason: "Protocol error, arrays are nested too deeply")
            }
            try append(.array(count: UInt32(count), end: UInt32(reply.tokens.count + 1)))
            if count > 0 {
                open.append(OpenArray(index: reply.tokens.count - 1, left: count))
            } else {
                closeArrays()
            }
        default:
            throw Violation(
                reason: "Protocol error, got \"\(ForeignText(utf8: line.prefix(1)))\" as the type of a reply")
        }
    }

    /// Adds a value that is complete.
    private mutating func add(_ token: RedisReply.Token) throws(Violation) {
        try append(token)
        closeArrays()
    }

    private mutating func append(_ token: RedisReply.Token) throws(Violation) {
        if reply.tokens.count == limits.values { throw tooLong }
        reply.tokens.append(token)
    }

    /// Counts a complete value in the arrays that contain it, and ends those whose last element it was.
    private mutating func closeArrays() {
        while !open.isEmpty {
            let last = open.count - 1
            open[last].left -= 1
            if open[last].left > 0 { return }
            let index = open.removeLast().index
            guard case .array(let count, _) = reply.tokens[index] else {
                preconditionFailure("an open array is an array")
            }
            reply.tokens[index] = .array(count: count, end: UInt32(reply.tokens.count))
        }
    }

    // MARK: - Strings

    private mutating func store(_ bytes: ArraySlice<UInt8>) throws(Violation) -> RedisReply.Place {
        if bytes.count > limits.bytes - stored { throw tooLong }
        let place = room(for: bytes.count)
        reply.buffers[reply.buffers.count - 1] += bytes
        return place
    }

    /// Returns the place of a string whose bytes are then appended to the last buffer.
    ///
    /// No buffer grows beyond the room that it was made with, so no bytes are copied a second time.
    private mutating func room(for count: Int) -> RedisReply.Place {
        stored += count
        if reply.buffers.last.map({ $0.capacity - $0.count < count }) ?? true {
            var buffer: [UInt8] = []
            buffer.reserveCapacity(max(count, min(65_536, input.count - position)))
            reply.buffers.append(buffer)
        }
        let buffer = reply.buffers.count - 1
        return RedisReply.Place(
            buffer: UInt32(buffer), start: UInt32(reply.buffers[buffer].count), count: UInt32(count))
    }

    // MARK: - Numbers

    /// Reads the length of a string or an array; nil for -1, which stands for null.
    private func length(_ digits: ArraySlice<UInt8>) throws(Violation) -> Int? {
        if digits.elementsEqual("-1".utf8) { return nil }
        guard let length = OutsideNumber(decimal: digits) else {
            throw Violation(reason: "Protocol error, the length of a value is out of range")
        }
        return length.count
    }

    private func integer(_ digits: ArraySlice<UInt8>) throws(Violation) -> Int64 {
        let isNegative = digits.first == UInt8(ascii: "-")
        guard let number = OutsideNumber(decimal: isNegative ? digits.dropFirst() : digits) else {
            throw Violation(reason: "Protocol error, an integer is out of range")
        }
        return isNegative ? -Int64(number.value) : Int64(number.value)
    }

    private var tooLong: Violation {
        Violation(
            reason: "the server sends a reply of more than \(limits.bytes) bytes or \(limits.values) values")
    }
}

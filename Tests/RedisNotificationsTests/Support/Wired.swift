import RunLoops
import TestSupport

@testable import RedisNotifications

/// A value in the protocol of a server.
indirect enum Wired {
    case null
    case integer(String)
    case bytes([UInt8])
    case status([UInt8])
    case error(String)
    case array([Wired])

    static func text(_ text: String) -> Wired { .bytes(Array(text.utf8)) }

    /// The bytes that a server sends.
    var sent: [UInt8] {
        switch self {
        case .null: Array("$-1\r\n".utf8)
        case .integer(let digits): Array(":\(digits)\r\n".utf8)
        case .bytes(let bytes): Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10]
        case .status(let bytes): [UInt8(ascii: "+")] + bytes + [13, 10]
        case .error(let text): Array("-\(text)\r\n".utf8)
        case .array(let values): values.reduce(into: Array("*\(values.count)\r\n".utf8)) { $0 += $1.sent }
        }
    }

    /// The value as the engine reads it from its bytes; nil if it refuses them.
    var value: RedisValue? { Wired.replies(in: [sent])?.first?.value }

    /// Reads replies from bytes that arrive in pieces; nil if the bytes are refused.
    static func replies(in pieces: [[UInt8]], _ limits: RedisReader.Limits = .init()) -> [RedisReply]? {
        var reader = RedisReader(limits)
        var replies: [RedisReply] = []
        for piece in pieces {
            reader.append(piece)
            steps: while true {
                do throws(RedisReader.Violation) {
                    switch try reader.step() {
                    case .reply(let reply): replies.append(reply)
                    case .more: break
                    case .needsBytes: break steps
                    }
                } catch { return nil }
            }
        }
        return replies
    }

    /// Reads a value back from a reply.
    init(_ value: RedisValue) {
        if var elements = value.elements {
            var values: [Wired] = []
            while let element = elements.next() { values.append(Wired(element)) }
            self = .array(values)
        } else if let error = value.error {
            self = .error(error.description)
        } else if let integer = value.integer {
            self = .integer("\(integer)")
        } else if let bytes = value.bytes {
            self = .bytes(Array(bytes))
        } else {
            self = .null
        }
    }
}

extension Array where Element == UInt8 {
    /// The bytes in pieces of random sizes.
    func cut(_ random: inout SplitMix64) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = self[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...Swift.max(1, rest.count / 2), using: &random)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}

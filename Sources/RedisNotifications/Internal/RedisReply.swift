internal import CLibHiredis

/// A reply of the server, copied out of the library's memory.
indirect enum RedisReply: Hashable, Sendable {
    case null
    case integer(Int64)
    /// A status or a string; a string can contain any bytes.
    case text([UInt8])
    case array([RedisReply])
    case error(String)

    /// Copies a reply.
    init(_ reply: UnsafeMutablePointer<redisReply>) {
        // Safe, here and below: the library has filled in the fields that belong to the type.
        switch unsafe reply.pointee.type {
        case REDIS_REPLY_INTEGER: self = .integer(unsafe reply.pointee.integer)
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .text(unsafe RedisReply.bytes(reply))
        case REDIS_REPLY_ERROR: self = .error(String(decoding: unsafe RedisReply.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            var elements: [RedisReply] = []
            elements.reserveCapacity(unsafe reply.pointee.elements)
            for index in 0..<(unsafe reply.pointee.elements) {
                guard let element = unsafe reply.pointee.element[index] else { continue }
                elements.append(unsafe RedisReply(element))
            }
            self = .array(elements)
        default: self = .null
        }
    }

    private static func bytes(_ reply: UnsafeMutablePointer<redisReply>) -> [UInt8] {
        guard let start = unsafe reply.pointee.str else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: reply.pointee.len))
    }

    /// The bytes of a string; nil for other types.
    var bytes: [UInt8]? { if case .text(let bytes) = self { bytes } else { nil } }

    /// The text of a string; nil for other types.
    var string: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The elements of an array; nil for other types.
    var elements: [RedisReply]? { if case .array(let elements) = self { elements } else { nil } }

    /// The value of an integer reply, or of a string of digits; nil for other replies.
    var number: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .text: string.flatMap { UInt64($0) }
        case .null, .array, .error: nil
        }
    }
}

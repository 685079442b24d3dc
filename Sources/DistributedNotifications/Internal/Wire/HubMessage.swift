/// The protocol between a center and its hub: the numbers that identify messages, and the limits of messages.
enum HubMessage {
    /// The version of the protocol, which each end sends to the other.
    static let version: UInt32 = 1

    /// The maximum number of bytes of a message, in either direction.
    static let mostBytes = 131_072

    // The messages that a center sends.
    static let hello: UInt32 = 1
    static let announce: UInt32 = 2
    static let posts: UInt32 = 3
    static let subscribe: UInt32 = 4
    static let unsubscribe: UInt32 = 5
    static let locate: UInt32 = 6
    static let confirm: UInt32 = 7
    static let bye: UInt32 = 8

    // The messages that the hub sends.
    static let welcome: UInt32 = 16
    static let acknowledged: UInt32 = 17
    static let batch: UInt32 = 18
    static let refusal: UInt32 = 19

    // The reasons that a refusal contains.
    static let refusedVersion: UInt32 = 1
    static let refusedDuplicate: UInt32 = 2

    // The maximum number of entries in one message. Entries of any size fit into a message up to this number. These limits bound
    // the work that the hub does before it serves the next connection.
    static let horizonsPerMessage = 200
    static let subscriptionsPerMessage = 200
    static let postersPerMessage = 4_096
}

// MARK: - Parts

extension WireWriter {
    mutating func put(_ horizon: Horizon) {
        put(horizon.poster)
        put(horizon.topic)
        put(horizon.number)
        put(horizon.time)
        put(horizon.reason.number)
    }

    /// Writes all fields of a post except the poster.
    package mutating func put(_ post: Post) {
        put(post.number)
        put(post.previous)
        put(post.date)
        put(UInt8(post.isImmediate ? 1 : 0))
        put(post.topic)
        put(post.payload)
    }

    mutating func put(_ subscription: Subscription) {
        put(subscription.number)
        put(subscription.name)
        put(subscription.sender)
        switch subscription.start {
        case .now: put(UInt8(0))
        case .last(let count):
            put(UInt8(1))
            put(UInt64(count))
        case .since(let date):
            put(UInt8(2))
            put(date)
        case .after(let position, let epoch):
            put(UInt8(3))
            put(position.low)
            put(epoch.high)
            put(epoch.low)
        }
    }
}

extension WireReader {
    mutating func horizon() throws(WireViolation) -> Horizon {
        let poster = try poster()
        let topic = try topic()
        let number = try count()
        let time = try self.number(Int64.self)
        guard let reason = DistributedNotificationGap.Reason(number: try self.number(UInt8.self)) else {
            throw WireViolation("a gap has an unknown reason")
        }
        return Horizon(poster: poster, topic: topic, number: number, time: time, reason: reason)
    }

    package mutating func post(of poster: PosterID) throws(WireViolation) -> Post {
        let number = try count()
        let previous = try count()
        let date = try self.number(Int64.self)
        let isImmediate = try flag()
        return Post(
            poster: poster, number: number, previous: previous, topic: try topic(), date: date,
            isImmediate: isImmediate, payload: try payload())
    }

    mutating func subscription() throws(WireViolation) -> Subscription {
        let number = try number(UInt64.self)
        let name = try optionalText()
        let sender = try optionalText()
        let start: Subscription.Start
        switch try self.number(UInt8.self) {
        case 0: start = .now
        case 1: start = .last(Int(clamping: try self.number(UInt64.self)))
        case 2: start = .since(try self.number())
        case 3:
            let position = Position(low: try count())
            start = .after(position, Epoch(high: try self.number(), low: try self.number()))
        default: throw WireViolation("a subscription starts in an unknown way")
        }
        return Subscription(number: number, name: name, sender: sender, start: start)
    }
}

extension WireWriter {
    mutating func put(_ batch: EngineBatch) {
        put(batch.number)
        for item in batch.items { put(item) }
    }

    private mutating func put(_ item: EngineBatch.Item) {
        switch item {
        case .post(let delivered):
            put(UInt8(1))
            put(delivered.post.poster)
            put(delivered.post)
            put(delivered.position.low)
            put(delivered.subscription ?? 0)
        case .horizon(let horizon, _):
            put(UInt8(2))
            put(horizon)
        case .baseline(let baseline):
            put(UInt8(3))
            put(baseline.subscription)
            put(baseline.position.low)
            put(UInt8(baseline.isLast ? 1 : 0))
            put(UInt8(baseline.hasForgotten ? 1 : 0))
            put(UInt16(baseline.marks.count))
            for mark in baseline.marks {
                put(mark.poster)
                put(UInt8(mark.topic == nil ? 0 : 1))
                if let topic = mark.topic { put(topic) }
                put(mark.number)
                put(mark.base)
                put(mark.baseTime)
            }
        case .present(let poster):
            put(UInt8(4))
            put(poster)
        case .ended(let end, _):
            put(UInt8(5))
            put(end.poster)
            put(end.accepted)
            put(UInt8(end.last == nil ? 0 : 1))
            put(end.last ?? 0)
        }
    }
}

extension WireReader {
    mutating func batch() throws(WireViolation) -> EngineBatch {
        let number = try number(UInt64.self)
        var items: [EngineBatch.Item] = []
        while !isAtEnd { items.append(try item()) }
        return EngineBatch(number: number, items: items)
    }

    private mutating func item() throws(WireViolation) -> EngineBatch.Item {
        switch try number(UInt8.self) {
        case 1:
            let post = try post(of: try poster())
            let position = Position(low: try count())
            // 0 stands for none, because subscriptions are numbered from 1.
            let only = try number(UInt64.self)
            return .post(.init(post: post, position: position, subscription: only == 0 ? nil : only))
        case 2: return .horizon(try horizon())
        case 3: return .baseline(try baseline())
        case 4: return .present(try poster())
        case 5:
            let poster = try poster()
            let accepted = try count()
            let isKnown = try flag()
            let last = try count()
            return .ended(PosterEnd(poster: poster, accepted: accepted, last: isKnown ? last : nil))
        default: throw WireViolation("a batch has an unknown item")
        }
    }

    private mutating func baseline() throws(WireViolation) -> Baseline {
        let subscription = try number(UInt64.self)
        let position = Position(low: try count())
        let isLast = try flag()
        let hasForgotten = try flag()
        var marks: [Baseline.Mark] = []
        for _ in 0..<(try number(UInt16.self)) {
            let poster = try poster()
            let topic = try flag() ? try topic() : nil
            marks.append(
                .init(
                    poster: poster, topic: topic, number: try count(), base: try count(),
                    baseTime: try self.number()))
        }
        return Baseline(
            subscription: subscription, marks: marks, position: position, isLast: isLast,
            hasForgotten: hasForgotten)
    }
}

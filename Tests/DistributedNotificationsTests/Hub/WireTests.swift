import TestSupport
import Testing

@testable import DistributedNotifications

struct WireTests {
    private var random = SplitMix64(seed: 19)

    private mutating func text() -> String {
        String(repeating: "é", count: .random(in: 0...127, using: &random))
    }

    private mutating func topic() -> Topic {
        Topic(name: text(), sender: Bool.random(using: &random) ? text() : nil)
    }

    private mutating func poster() -> PosterID { PosterID(high: random.next(), low: random.next()) }

    private mutating func count() -> UInt64 { random.next() >> 1 }

    private mutating func item() -> EngineBatch.Item {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let post = Post(
                poster: poster(), number: count(), previous: count(), topic: topic(),
                date: .random(in: .min ... .max),
                isImmediate: .random(),
                payload: (0..<Int.random(in: 0...40, using: &random)).map { UInt8($0) })
            return .post(
                .init(post: post, position: Position(low: count()), subscription: .random() ? 7 : nil))
        case 1:
            return .horizon(
                Horizon(
                    poster: poster(), topic: topic(), number: count(), time: .random(in: .min ... .max),
                    reason: .processBehind))
        case 2:
            let marks = (0..<3).map { index in
                Baseline.Mark(
                    poster: poster(), topic: index == 0 ? nil : topic(), number: count(), base: count(),
                    baseTime: .random(in: .min ... .max))
            }
            return .baseline(
                Baseline(subscription: 3, marks: marks, position: Position(low: count()), isLast: .random()))
        case 3: return .present(poster())
        default:
            return .ended(PosterEnd(poster: poster(), accepted: count(), last: .random() ? count() : nil))
        }
    }

    @Test mutating func `what one end writes, the other end reads`() throws {
        for _ in 0..<300 {
            let batch = EngineBatch(number: count(), items: (0..<6).map { _ in item() })
            var writer = WireWriter()
            writer.put(batch)
            var reader = WireReader(writer.bytes)
            let read = try reader.batch()
            #expect(read == batch)
        }
        for start in [
            Subscription.Start.now, .last(3), .since(-5), .after(Position(low: 9), Epoch(high: 1, low: 2)),
        ] {
            let subscription = Subscription(number: 4, name: text(), sender: nil, start: start)
            var writer = WireWriter()
            writer.put(subscription)
            var reader = WireReader(writer.bytes)
            let read = try reader.subscription()
            #expect(read == subscription)
        }
    }

    // Guarantees: Nothing that a process sends can end the hub, or stop it from serving others.
    @Test mutating func `a message that is cut anywhere, or has any byte changed, is read or refused`() {
        var writer = WireWriter()
        writer.put(EngineBatch(number: 1, items: (0..<8).map { _ in item() }))
        var refused = 0
        for length in 0..<writer.bytes.count {
            var reader = WireReader(Array(writer.bytes[..<length]))
            do { _ = try reader.batch() } catch { refused += 1 }
        }
        for index in writer.bytes.indices {
            var bytes = writer.bytes
            bytes[index] ^= UInt8.random(in: 1...255, using: &random)
            var reader = WireReader(bytes)
            do { _ = try reader.batch() } catch { refused += 1 }
        }
        #expect(refused > writer.bytes.count / 2)
    }

    @Test func `a number beyond all counting is refused`() {
        var writer = WireWriter()
        writer.put(UInt64(Int64.max) + 1)
        #expect(throws: WireViolation.self) {
            var reader = WireReader(writer.bytes)
            _ = try reader.count()
        }
    }
}

import TestSupport
import Testing

@testable import Streams

/// The frames of a stream do not depend on the pieces in which it arrives.
@Suite struct FrameScannerTests {
    /// Returns the frames of pieces that arrive one by one, and true if a frame is too long.
    private func frames(
        _ framing: Framing, _ pieces: [[UInt8]]
    ) -> (frames: [[UInt8]], isTooLong: Bool, rest: Int) {
        var scanner = FrameScanner(framing)
        var stored: [UInt8] = []
        var frames: [[UInt8]] = []
        for piece in pieces {
            stored += piece
            search: while true {
                switch unsafe scanner.next(in: stored.span.bytes) {
                case .frame(let range, let consumed):
                    frames.append(Array(stored[range]))
                    stored.removeFirst(consumed)
                case .incomplete: break search
                case .beyond: return (frames, true, stored.count)
                }
            }
        }
        return (frames, false, stored.count)
    }

    private func cuts(_ bytes: [UInt8], _ random: inout SplitMix64) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...min(rest.count, 7), using: &random)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    @Test func `lines end with a line feed, with or without a carriage return`() {
        let result = frames(.lines(upTo: 5), [Array("one\r\ntwo\n\r\n\nfives\r\nfives\na\rb\nrest".utf8)])
        #expect(
            result.frames.map { String(decoding: $0, as: UTF8.self) } == [
                "one", "two", "", "", "fives", "fives", "a\rb",
            ])
        #expect(!result.isTooLong)
        #expect(result.rest == 4)
    }

    // Guarantees: However a stream is cut into packets, its frames are the same.
    @Test(arguments: 0..<300) func `lines are the same however they are cut`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var lines: [[UInt8]] = []
        var bytes: [UInt8] = []
        for _ in 0..<20 {
            let line = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                UInt8.random(in: 97...99, using: &random)
            }
            lines.append(line)
            bytes += line + (Bool.random(using: &random) ? [13, 10] : [10])
        }
        let result = frames(.lines(upTo: 9), cuts(bytes, &random))
        #expect(result.frames == lines)
        #expect(result.rest == 0)
    }

    @Test(arguments: 1...12) func `a line beyond its limit is refused as soon as it is known`(length: Int) {
        let limit = 6
        let line = [UInt8](repeating: 97, count: length)
        let bytes = (line + [13, 10]).map { [$0] }
        let result = frames(.lines(upTo: limit), bytes)
        #expect(result.isTooLong == (length > limit))
        // One byte beyond the limit suffices to refuse the line.
        #expect(result.rest <= limit + 1)
        #expect(frames(.lines(upTo: limit), [line + [10]]).isTooLong == (length > limit))
    }

    @Test(arguments: 0..<200) func `delimited frames are the same however they are cut`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // Carriage returns and line feeds are ordinary bytes of such frames.
        let sent = (0..<20).map { _ in
            (0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8.random(in: 9...13, using: &random) }
        }
        let result = frames(
            .delimited(by: 0, upTo: 9), cuts(Array(sent.joined(separator: [0])) + [0, 1], &random))
        #expect(result.frames == sent)
        #expect(result.rest == 1)
        #expect(!result.isTooLong)
    }

    @Test(arguments: 1...12) func `a delimited frame beyond its limit is refused as soon as it is known`(
        length: Int
    ) {
        let limit = 6
        let frame = [UInt8](repeating: 13, count: length)
        let result = frames(.delimited(by: 255, upTo: limit), (frame + [255]).map { [$0] })
        #expect(result.isTooLong == (length > limit))
        #expect(result.rest == (length > limit ? limit + 1 : 0))
        #expect(frames(.delimited(by: 255, upTo: limit), [frame + [255]]).isTooLong == (length > limit))
    }

    // Guarantees: However a stream is cut into packets, its frames are the same.
    @Test(arguments: 0..<200) func `frames behind a length are the same however they are cut`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var sent: [[UInt8]] = []
        var bytes: [UInt8] = []
        for _ in 0..<20 {
            let frame = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            sent.append(frame)
            bytes += [0, UInt8(frame.count)] + frame
        }
        let result = frames(.lengthPrefixed(UInt16.self, upTo: 40), cuts(bytes, &random))
        #expect(result.frames == sent)
        #expect(result.rest == 0)
    }

    @Test func `the most significant byte of a length comes first, for each width`() {
        #expect(frames(.lengthPrefixed(UInt8.self), [[2, 7, 8]]).frames == [[7, 8]])
        #expect(frames(.lengthPrefixed(UInt16.self), [[0, 2, 7, 8]]).frames == [[7, 8]])
        #expect(frames(.lengthPrefixed(UInt32.self), [[0, 0, 0, 2, 7, 8]]).frames == [[7, 8]])
        #expect(frames(.lengthPrefixed(UInt64.self), [[0, 0, 0, 0, 0, 0, 0, 2, 7, 8]]).frames == [[7, 8]])
        let long = frames(
            .lengthPrefixed(UInt16.self, upTo: 300), [[1, 0] + [UInt8](repeating: 5, count: 256)])
        #expect(long.frames == [[UInt8](repeating: 5, count: 256)])
    }

    @Test func `a length beyond the limit is refused before a byte of the frame is stored`() {
        #expect(frames(.lengthPrefixed(UInt32.self, upTo: 10), [[0, 0, 0, 10]]).isTooLong == false)
        #expect(frames(.lengthPrefixed(UInt32.self, upTo: 10), [[0, 0, 0, 11]]).isTooLong)
        #expect(
            frames(.lengthPrefixed(UInt64.self, upTo: 10), [[255, 255, 255, 255, 255, 255, 255, 255]])
                .isTooLong)
    }

    @Test func `frames of one size follow each other`() {
        let result = frames(.fixed(3), [[1], [2, 3, 4], [5, 6, 7]])
        #expect(result.frames == [[1, 2, 3], [4, 5, 6]])
        #expect(result.rest == 1)
    }
}

import Testing

@testable import HTTPServers

/// Frames of clients, taken apart however they are cut.
@Suite struct WebSocketInputTests {
    private typealias Event = WebSocketInput.Event

    // Guarantees: A message is delivered when its last frame has come, and a text only if it is UTF-8.
    @Test func `a message of frames is complete with its last one, and frames of control come between`() {
        let bytes =
            Frame(.text, "Hel", isFinal: false).bytes + Frame(.ping, "p").bytes
            + Frame(.continuation, "lo", isFinal: false).bytes + Frame(.pong, "").bytes
            + Frame(.continuation, "!").bytes + Frame(.binary, [0, 255]).bytes + Frame(.text, "").bytes
        expect(
            bytes,
            [
                .ping(Array("p".utf8)), .pong([]), .message(.text("Hello!")), .message(.binary([0, 255])),
                .message(.text("")),
            ])
    }

    @Test(arguments: [125, 126, 127, 65_535, 65_536, 70_000]) func `each length has its form`(count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        expect(Frame(.binary, content).bytes, [.message(.binary(content))])
    }

    // Guarantees: A message is delivered when its last frame has come, and a text only if it is UTF-8.
    @Test(
        arguments: [
            [0x80], [0xbf], [0xc0, 0xaf], [0xc1, 0xbf], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
            [0xf0, 0x8f, 0xbf, 0xbf],
            [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80], [0xff], [0xe2, 0x82, 0x41], [0xf0, 0x9f, 0x98, 0xff],
            [0xc3, 0xc3],
        ] as [[UInt8]]) func `a text that is not UTF-8 is an error as soon as it shows`(wrong: [UInt8])
    {
        expect(Frame(.text, Array("κόσμε".utf8) + wrong, isFinal: false).bytes, [], fails: .invalidText)
    }

    // Guarantees: A message is delivered when its last frame has come, and a text only if it is UTF-8.
    @Test func `a character may be cut between frames, but not at the end of a message`() {
        for character in ["é", "€", "😀", "\u{10ffff}", "\u{d7ff}", "\u{e000}"] {
            let bytes = Array(character.utf8)
            for cut in 1..<bytes.count {
                let first = Frame(.text, Array(bytes[..<cut]), isFinal: false).bytes
                let rest = Frame(.continuation, Array(bytes[cut...])).bytes
                expect(first + Frame(.ping, "").bytes + rest, [.ping([]), .message(.text(character))])
                expect(Frame(.text, Array(bytes[..<cut])).bytes, [], fails: .invalidText)
            }
        }
    }

    @Test func `a frame that breaks a rule ends the input`() {
        let wrong: [[UInt8]] = [
            Frame(.text, "a", isMasked: false).bytes,
            Frame(.ping, "a", isFinal: false).bytes,
            Frame(.ping, Array(repeating: 0, count: 126)).bytes,
            Frame(.continuation, "a").bytes,
            Frame(.text, "a", isFinal: false).bytes + Frame(.text, "b").bytes,
            Frame(.text, "a", isFinal: false).bytes + Frame(.binary, "b").bytes,
            Frame(.close, [3]).bytes,
            [0xc1, 0x80, 0, 0, 0, 0], [0xa1, 0x80, 0, 0, 0, 0], [0x91, 0x80, 0, 0, 0, 0],
            [0x83, 0x80, 0, 0, 0, 0], [0x8b, 0x80, 0, 0, 0, 0], [0x8f, 0x80, 0, 0, 0, 0],
            // Lengths in a longer form than needed, and one with the highest bit.
            [0x82, 0xfe, 0, 5, 0, 0, 0, 0], [0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0],
            [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        for bytes in wrong { expect(bytes + Frame(.text, "behind").bytes, [], fails: .protocolError) }
    }

    @Test func `codes that no end may send are errors, and nothing behind a close is an event`() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] as [UInt16] {
            expect(Frame(.close, [UInt8(code >> 8), UInt8(code & 255)]).bytes, [], fails: .protocolError)
        }
        for code in [1000, 1003, 1007, 1011, 1014, 3000, 4999] as [UInt16] {
            let frame = Frame(.close, [UInt8(code >> 8), UInt8(code & 255)] + Array("é".utf8)).bytes
            expect(
                frame + Frame(.text, "behind").bytes,
                [.close(WebSocket.CloseCode(rawValue: code), reason: "é")])
        }
        expect(Frame(.close, []).bytes + [0xff, 0xff], [.close(nil, reason: "")])
        expect(Frame(.close, [3, 232, 0xff]).bytes, [], fails: .invalidText)
        expect(Frame(.close, [3, 232, 0xc3]).bytes, [], fails: .invalidText)
    }

    @Test func `the limit counts all frames of a message, and is seen in the header`() {
        let five = Frame(.binary, "12345").bytes
        expect(five, [.message(.binary(Array("12345".utf8)))], limit: 5)
        expect(Frame(.binary, "123456").bytes, [], fails: .messageTooBig, limit: 5)
        let begun = Frame(.binary, "123", isFinal: false).bytes
        expect(begun + Frame(.continuation, "45").bytes, [.message(.binary(Array("12345".utf8)))], limit: 5)
        expect(begun + Frame(.continuation, "456").bytes, [], fails: .messageTooBig, limit: 5)
        // 2^63-1 bytes are announced, and none has come.
        expect(
            [0x82, 0xff, 0x7f] + Array(repeating: 0xff, count: 7) + [0, 0, 0, 0], [], fails: .messageTooBig,
            limit: 5)
        // Without a limit, numbers that add up to more than there are stay numbers.
        expect(
            begun + [0x80, 0xff, 0x7f] + Array(repeating: 0xff, count: 7) + [0, 0, 0, 0], [],
            fails: .messageTooBig,
            limit: nil)
    }

    @Test(arguments: 0..<50) func `what is seen does not depend on the cuts`(seed: UInt64) {
        var random = Random(state: seed &+ 1)
        var bytes: [UInt8] = []
        for _ in 0..<8 {
            let content = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                UInt8.random(in: 0...127, using: &random)
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes += Frame(.ping, Array(content.prefix(125))).bytes
            case 1: bytes += Frame(.text, content, isFinal: false).bytes + Frame(.continuation, "ü€").bytes
            case 2: bytes += Frame(.text, content).bytes
            case 3: bytes += Frame(.binary, content).bytes
            default:
                if !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
        }
        let whole = outcome(bytes, limit: 1_000) { $0 }
        let cut = outcome(bytes, limit: 1_000) { Int.random(in: 1...max(1, min($0, 9)), using: &random) }
        #expect(whole.events == cut.events && whole.error == cut.error)
    }

    // MARK: - Help

    private func expect(
        _ bytes: [UInt8], _ events: [Event], fails error: WebSocket.CloseCode? = nil, limit: Int? = 100_000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for size in [bytes.count, 1, 3, 7] {
            let seen = outcome(bytes, limit: limit) { min($0, size) }
            #expect(
                seen.events == events && seen.error == error, "in pieces of \(size)",
                sourceLocation: sourceLocation)
        }
    }

    /// Feeds bytes in pieces, whose sizes a function chooses from the number of bytes that are left.
    private func outcome(
        _ bytes: [UInt8], limit: Int?, _ size: (Int) -> Int
    ) -> (events: [Event], error: WebSocket.CloseCode?) {
        var input = WebSocketInput(messageByteLimit: limit)
        var events: [Event] = []
        var start = 0
        while start < bytes.count {
            var piece = Array(bytes[start..<start + size(bytes.count - start)])
            start += piece.count
            while !piece.isEmpty {
                var consumed = 0
                do throws(WebSocket.CloseCode) {
                    // Safe: a byte has no padding.
                    let event = try input.next(in: unsafe piece.span.bytes, consumed: &consumed)
                    if let event { events.append(event) }
                } catch { return (events, error) }
                #expect(consumed > 0)
                piece.removeFirst(consumed)
            }
        }
        return (events, nil)
    }

    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var value = state
            value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
            return value ^ (value >> 31)
        }
    }
}

/// A frame of a client.
struct Frame {
    let bytes: [UInt8]

    init(_ opcode: WebSocketFrame.Opcode, _ content: [UInt8], isFinal: Bool = true, isMasked: Bool = true) {
        var header = WebSocketFrame.header(opcode, count: content.count)
        if !isFinal { header[0] &= 0x7f }
        if !isMasked {
            bytes = header + content
            return
        }
        header[1] |= 0x80
        let key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
        bytes = header + key + content.enumerated().map { $1 ^ key[$0 % 4] }
    }

    init(_ opcode: WebSocketFrame.Opcode, _ content: String, isFinal: Bool = true, isMasked: Bool = true) {
        self.init(opcode, Array(content.utf8), isFinal: isFinal, isMasked: isMasked)
    }
}

import RunLoops
import Testing

/// Values from the bytes that handlers get.
@Suite struct RawSpanTests {
    @Test func `a string has the characters of the bytes, with invalid bytes repaired`() {
        let text = "grüße, 世界\0"
        #expect(unsafe String(decoding: Array(text.utf8).span.bytes, as: UTF8.self) == text)
        let broken: [UInt8] = [0x61, 0xff, 0x62, 0xe4, 0xb8]
        #expect(unsafe String(decoding: broken.span.bytes, as: UTF8.self) == "a\u{FFFD}b\u{FFFD}")
        #expect(unsafe String(decoding: [UInt8]().span.bytes, as: UTF8.self) == "")
    }

    @Test func `an array has the bytes, of a part of a span, too`() {
        let bytes: [UInt8] = [0, 1, 255, 10]
        #expect(unsafe [UInt8](bytes.span.bytes) == bytes)
        #expect(unsafe Array(bytes.span.bytes.extracting(1..<3)) == [1, 255])
        #expect(unsafe Array([UInt8]().span.bytes) == [])
    }
}

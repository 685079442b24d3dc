import Testing

@testable import Streams

struct InputBufferTests {
    private func text(_ buffer: borrowing InputBuffer) -> String {
        buffer.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    private func add(_ text: String, to buffer: inout InputBuffer) {
        unsafe buffer.append(Array(text.utf8).span.bytes)
    }

    @Test func `bytes that are put back come before the others, but for those that are consumed`() {
        var buffer = InputBuffer()
        add("abcdef", to: &buffer)
        buffer.consume(2)
        unsafe buffer.prepend(Array("12".utf8).span.bytes)
        let all = text(buffer)
        #expect(all == "12cdef")
        buffer.consume(6)
        unsafe buffer.prepend(Array("3".utf8).span.bytes)
        let rest = text(buffer)
        #expect(rest == "3")
    }

    @Test(arguments: 1...7) func `all bytes are moved, whatever the size of the place`(size: Int) {
        var buffer = InputBuffer()
        add("abcdef", to: &buffer)
        var all: [UInt8] = []
        var place = [UInt8](repeating: 0, count: size)
        while !buffer.isEmpty {
            let count = unsafe place.withUnsafeMutableBytes { unsafe buffer.move(to: $0) }
            #expect(count > 0)
            all += place[..<count]
        }
        #expect(String(decoding: all, as: UTF8.self) == "abcdef")
    }
}

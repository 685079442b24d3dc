/// The bytes of a `sockaddr`.
///
/// An IP address or a short name is stored in the value itself, so that the sender of a datagram needs no memory of its own. Equal
/// bytes are always stored in the same way.
///
/// > Thread safety: a value.
enum AddressBytes: Hashable, Sendable {
    case inline(Inline)
    /// More bytes than ``Inline/capacity``.
    case array([UInt8])

    init(_ bytes: UnsafeRawBufferPointer) {
        self = unsafe bytes.count <= Inline.capacity ? .inline(Inline(bytes)) : .array([UInt8](bytes))
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .inline(let inline): unsafe inline.withUnsafeBytes(body)
        case .array(let bytes): unsafe bytes.withUnsafeBytes(body)
        }
    }

    /// At most 31 bytes; an IPv6 address has 28.
    struct Inline: Hashable, Sendable {
        static var capacity: Int { 31 }

        /// The bytes, then zeros, and the count of the bytes in the last byte of the last word.
        private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        init(_ bytes: UnsafeRawBufferPointer) {
            // Safe: the bytes and their count fit.
            unsafe Swift.withUnsafeMutableBytes(of: &words) { words in
                unsafe words.copyMemory(from: bytes)
                unsafe words[Inline.capacity] = UInt8(bytes.count)
            }
        }

        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            // Safe: the count is that of the bytes.
            unsafe Swift.withUnsafeBytes(of: words) { words in
                unsafe body(UnsafeRawBufferPointer(rebasing: words[..<Int(words[Inline.capacity])]))
            }
        }

        static func == (left: Inline, right: Inline) -> Bool { left.words == right.words }

        func hash(into hasher: inout Hasher) {
            hasher.combine(words.0)
            hasher.combine(words.1)
            hasher.combine(words.2)
            hasher.combine(words.3)
        }
    }
}

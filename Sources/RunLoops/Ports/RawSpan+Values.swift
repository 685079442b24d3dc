extension String {
    /// Creates a string from UTF-8 bytes, with invalid bytes repaired.
    ///
    /// Each sequence of bytes that is not valid UTF-8 becomes U+FFFD, the replacement character.
    ///
    /// ```swift
    /// connection.onFrame(.lines()) { connection, line in
    ///     print(String(decoding: line, as: UTF8.self))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which are copied.
    ///   - encoding: The encoding of the bytes.
    public init(decoding bytes: RawSpan, as encoding: UTF8.Type) {
        // Safe: the bytes are only read, and while the span is valid.
        self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: encoding) }
    }
}

extension Array where Element == UInt8 {
    /// Creates an array from the bytes of a span.
    ///
    /// - Parameter bytes: The bytes, which are copied.
    public init(_ bytes: RawSpan) {
        // Safe: the bytes are only read, and while the span is valid.
        self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
}

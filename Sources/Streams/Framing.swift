internal import RunLoops

/// The way in which a stream of bytes is cut into frames.
///
/// ```swift
/// connection.onFrame(.lines(upTo: 512)) { connection, line in
///     connection.write(line)
///     connection.write("\n")
/// }
/// ```
///
/// A frame that would be longer than its limit ends the connection with ``Connection/Limit/frame(_:)`` as soon as
/// the received bytes show that the frame is too long. So a connection stores at most a frame of the maximum length, its prefix or
/// line ending, and the bytes of one read.
///
/// > Thread safety: a value.
public struct Framing: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case lines
        case delimited(by: UInt8)
        /// Frames that begin with their length, which takes `width` bytes.
        case lengthPrefixed(width: Int)
        case fixed
    }

    let kind: Kind

    /// The maximum number of bytes of a frame, without its line ending, delimiter or prefix.
    public let limit: Int

    /// Lines, each of which ends with a line feed, or a carriage return and a line feed.
    ///
    /// A line is delivered without its ending. If the stream ends with a line that has no line feed, that line is not
    /// delivered, and the connection ends with ``Connection/EndReason/incompleteInput``.
    ///
    /// - Parameter limit: The maximum number of bytes of a line, without its ending. A limit below 1 ends the program with a
    ///   message.
    /// - Returns: The framing.
    public static func lines(upTo limit: Int = 8192) -> Framing {
        Framing(kind: .lines, limit: checked(limit, "Framing.lines"))
    }

    /// Frames that end with a byte, which is not part of the frame.
    ///
    /// A frame may be empty. If the stream ends with a frame that has no delimiter, that frame is not delivered, and the connection
    /// ends with ``Connection/EndReason/incompleteInput``.
    ///
    /// ```swift
    /// connection.onFrame(.delimited(by: 0)) { connection, message in handle(message) }
    /// ```
    ///
    /// - Parameters:
    ///   - delimiter: The byte that ends each frame.
    ///   - limit: The maximum number of bytes of a frame, without the delimiter. A limit below 1 ends the program with a message.
    /// - Returns: The framing.
    public static func delimited(by delimiter: UInt8, upTo limit: Int = 8192) -> Framing {
        Framing(kind: .delimited(by: delimiter), limit: checked(limit, "Framing.delimited"))
    }

    /// Frames that begin with their length in bytes, as an unsigned integer with the most significant byte first.
    ///
    /// The length, which is the frame's prefix, does not count its own bytes. A frame is delivered without the prefix, and may be
    /// empty.
    ///
    /// - Parameters:
    ///   - type: The type of the length: `UInt8`, `UInt16`, `UInt32` or `UInt64`.
    ///   - limit: The maximum number of bytes of a frame, without the prefix. A limit below 1 ends the program with a message.
    /// - Returns: The framing.
    public static func lengthPrefixed<Length: FixedWidthInteger & UnsignedInteger>(
        _ type: Length.Type = UInt32.self, upTo limit: Int = 1 << 20
    ) -> Framing {
        if Length.bitWidth > 64 {
            misuse("Framing.lengthPrefixed: \(type) has more than 64 bits; use UInt64 or a smaller type")
        }
        return Framing(
            kind: .lengthPrefixed(width: Length.bitWidth / 8), limit: checked(limit, "Framing.lengthPrefixed")
        )
    }

    /// Frames of one size.
    ///
    /// - Parameter count: The number of bytes of each frame. A number below 1 ends the program with a message.
    /// - Returns: The framing.
    public static func fixed(_ count: Int) -> Framing {
        Framing(kind: .fixed, limit: checked(count, "Framing.fixed"))
    }

    private static func checked(_ limit: Int, _ member: StaticString) -> Int {
        if limit < 1 { misuse("\(member): a frame of at most \(limit) bytes; use a limit of one or more") }
        // The maximum leaves 16 bytes, so that the length of a frame plus its prefix or line ending fits into an `Int`.
        return min(limit, .max - 16)
    }
}

extension Framing: CustomStringConvertible {
    /// The kind of the frames, and their limit.
    public var description: String {
        switch kind {
        case .lines: "lines of at most \(limit) bytes"
        case .delimited(let delimiter): "frames of at most \(limit) bytes that end with the byte \(delimiter)"
        case .lengthPrefixed(let width): "frames of at most \(limit) bytes behind \(width) bytes of length"
        case .fixed: "frames of \(limit) bytes"
        }
    }
}

/// A writer for two kinds of data: messages between centers and hubs, and entries of an engine's store.
///
/// Numbers are little-endian.
package struct WireWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {
        // Most messages are shorter; without this, each of their numbers could move the ones before.
        bytes.reserveCapacity(64)
    }

    package mutating func put<Number: FixedWidthInteger>(_ number: Number) {
        // Safe: the bytes are copied inside the closure, while the number exists.
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func put(_ poster: PosterID) {
        put(poster.high)
        put(poster.low)
    }

    /// Writes a string of at most 255 bytes.
    mutating func put(_ text: String) {
        put(UInt8(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a byte that tells if there is a string, and then the string.
    mutating func put(_ text: String?) {
        put(UInt8(text == nil ? 0 : 1))
        if let text { put(text) }
    }

    mutating func put(_ topic: Topic) {
        put(topic.name)
        put(topic.sender)
    }

    mutating func put(_ payload: [UInt8]) {
        put(UInt32(payload.count))
        bytes.append(contentsOf: payload)
    }

    /// Writes the bytes of another writer.
    package mutating func put(_ part: WireWriter) { bytes.append(contentsOf: part.bytes) }
}

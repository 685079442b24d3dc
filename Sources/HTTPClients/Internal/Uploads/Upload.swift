internal import RunLoops

/// The body of a request; libcurl asks for its bytes piece by piece.
struct Upload {
    enum Source {
        case bytes([UInt8], given: Int)
        case stream(UploadStream)
        case file(UploadFile)
    }

    var source: Source
    /// True while libcurl waits for bytes that it has asked for, and that are not available yet.
    var isWaiting = false

    init(_ source: Source) { self.source = source }

    /// Copies the next bytes of the body into memory of libcurl.
    ///
    /// - Returns: The number of bytes; 0 at the end of the body, nil if the next bytes are not available yet.
    mutating func give(_ room: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int? {
        let count: Int?
        switch source {
        case .bytes(let bytes, let given):
            let part = bytes[given...].prefix(room.count)
            // Safe: the part fits into the room.
            unsafe room.copyBytes(from: part)
            source = .bytes(bytes, given: given + part.count)
            count = part.count
        case .stream(let stream): count = try unsafe stream.give(room)
        case .file(let file):
            do throws(SystemError) { count = try unsafe file.give(room) } catch { throw .uploadFailed(error) }
        }
        isWaiting = count == nil
        return count
    }

    /// Makes the body begin again at its first byte, if that is possible.
    ///
    /// - Returns: False if the body cannot be sent again.
    mutating func rewind() -> Bool {
        switch source {
        case .bytes(let bytes, _):
            source = .bytes(bytes, given: 0)
            return true
        case .stream(let stream): return !stream.hasBegun
        case .file(let file): return file.rewind()
        }
    }

    var stream: UploadStream? { if case .stream(let stream) = source { stream } else { nil } }

    /// The descriptor that the body is read from; nil if the body is not read from a descriptor.
    var descriptor: CInt? { if case .file(let file) = source { file.descriptor } else { nil } }

    /// The descriptor to watch while libcurl waits for bytes; nil if there is none.
    var awaitedDescriptor: CInt? { isWaiting ? descriptor : nil }
}

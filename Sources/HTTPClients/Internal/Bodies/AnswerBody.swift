internal import CTransfers
internal import HTTPTypes

/// The body of an answer on its way from libcurl to a handler or a task.
///
/// Bytes lose their framing when they arrive, so what is stored is bounded by what arrives. A body in a coding is stored as it is,
/// and decoded in steps when it is delivered.
struct AnswerBody {
    /// The limit on the stored bytes; at the limit, libcurl must hold back further bytes.
    ///
    /// libcurl can read up to a hundred times from one socket in one call.
    static let limit = 128 << 10
    /// The number of chunks after which libcurl must hold back further bytes, because each takes time.
    static let chunkLimit = 1_024

    private enum Form {
        /// The header is not complete, or there is no body.
        case none
        case plain
        case chunked(ChunkScanner)
    }

    private var form = Form.none
    /// The decoder of a body in a coding; nil if the body is delivered as it arrives.
    private var inflater: Inflater?
    private let limit: Int?

    /// The received bytes that no handler or task has taken yet.
    private var bytes: [UInt8] = []
    /// The number of bytes that were decoded, at the beginning of `bytes`.
    private var decoded = 0
    /// The number of bytes of the body that have arrived, without framing, and before decoding.
    private var arrived = 0
    /// The number of chunks at the time when there were last no stored bytes.
    private var earlierChunks = 0

    /// The number of bytes of the body that were received, after decoding.
    private(set) var count = 0

    /// True if only the end of the connection says where the body ends.
    private(set) var endsWithConnection = false

    /// True while libcurl holds back received bytes.
    var isHeld = false

    /// Creates a body without bytes.
    ///
    /// - Parameter limit: The maximum number of decoded bytes; nil for no limit.
    init(limit: Int?) { self.limit = limit }

    /// True if there are bytes to deliver or to decode.
    var hasBytes: Bool { !bytes.isEmpty || inflater?.isFull == true }

    /// The number of stored bytes.
    var storedByteCount: Int { bytes.count }

    /// True if the bytes must be decoded before they are delivered.
    var isCoded: Bool { inflater != nil }

    // MARK: - Receiving

    /// Prepares for the body that a header announces.
    ///
    /// - Parameters:
    ///   - header: The header.
    ///   - method: The method of the request.
    ///   - decodes: True if the client has offered codings.
    ///   - acceptsAll: True if the user has stated the acceptable codings, so that unknown ones are delivered as they are.
    /// - Throws: An error if the body is in a coding that was not offered.
    mutating func begin(
        _ header: HeaderBlock, method: HTTPRequest.Method, decodes: Bool, acceptsAll: @autoclosure () -> Bool
    )
        throws(HTTPClientError)
    {
        if method == .head || header.status == 204 || header.status == 304 { return }
        form = header.framing.isChunked ? .chunked(ChunkScanner()) : .plain
        endsWithConnection = !header.framing.isChunked && header.framing.length == nil && header.isVersion1
        guard decodes else { return }
        let codings = header.values(of: "content-encoding")
            .flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: HeaderBlock.trimmed($0).map(MessageRules.lowercase), as: UTF8.self) }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard let coding = codings.first else { return }
        switch (codings.count, coding) {
        case (1, "gzip"), (1, "x-gzip"): inflater = Inflater(runloops_gzip)
        case (1, "deflate"): inflater = Inflater(runloops_deflate)
        default:
            if acceptsAll() { return }
            throw .invalidResponse(
                "a coding that was not offered: \(codings.joined(separator: ", ").prefix(40).debugDescription)"
            )
        }
        if inflater == nil { throw .other(code: 27, "out of memory") }
    }

    /// Takes bytes from libcurl, unless they must be held back.
    ///
    /// - Returns: False if libcurl must hold the bytes back.
    mutating func take(_ new: UnsafeRawBufferPointer) throws(HTTPClientError) -> Bool {
        if bytes.isEmpty { earlierChunks = chunkCount }
        if bytes.count >= AnswerBody.limit || chunkCount - earlierChunks >= AnswerBody.chunkLimit {
            isHeld = true
            return false
        }
        let before = bytes.count
        switch form {
        // A body where there should be none: libcurl has found it, so it is delivered.
        case .none, .plain: unsafe bytes.append(contentsOf: new)
        case .chunked(var scanner):
            form = .none
            // Safe: the span is used during the call.
            let span = unsafe Span<UInt8>(_unsafeBytes: new)
            let problem = scanner.scan(span) { range in
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: new[range]))
            }
            form = .chunked(scanner)
            if let problem { throw .invalidResponse(problem) }
        }
        do throws(HTTPClientError) { try count(bytes.count - before) } catch {
            // Not one byte beyond the limit is delivered.
            bytes.removeLast(bytes.count - before)
            throw error
        }
        return true
    }

    /// Counts bytes that have arrived.
    private mutating func count(_ new: Int) throws(HTTPClientError) {
        arrived += new
        if inflater == nil {
            count = arrived
            if let limit, arrived > limit { throw .bodyTooLarge(limit: limit) }
        } else if let limit, arrived - limit / 8 - 65_536 > limit {
            // Bytes that decode to nothing count, too; no coding makes a body much longer. The sum of the limit and these bytes could
            // overflow.
            throw .bodyTooLarge(limit: limit)
        }
    }

    private var chunkCount: Int { if case .chunked(let scanner) = form { scanner.chunkCount } else { 0 } }

    // MARK: - Delivering

    /// Removes and returns the stored bytes of a body that is not in a coding.
    mutating func takeBytes() -> [UInt8] { exchange(&bytes, with: []) }

    /// Returns the memory of bytes that were taken, for further bytes.
    mutating func reuse(_ taken: consuming [UInt8]) {
        if !bytes.isEmpty || isCoded { return }
        bytes = taken
        bytes.removeAll(keepingCapacity: true)
    }

    /// Decodes some of the stored bytes of a body that is in a coding.
    ///
    /// - Returns: The decoded bytes; empty if the bytes decode to nothing.
    mutating func decode() throws(HTTPClientError) -> [UInt8] {
        guard let inflater else { return takeBytes() }
        var output: [UInt8] = []
        decoded += try inflater.step(bytes[decoded...], &output)
        if decoded == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            decoded = 0
        }
        count += output.count
        if let limit, count > limit { throw .bodyTooLarge(limit: limit) }
        return output
    }

    /// Discards the stored bytes.
    mutating func discard() {
        bytes = []
        inflater = nil
        decoded = 0
    }

    /// The reason that a body is not complete although libcurl says so; nil if it is complete.
    ///
    /// This is meaningful after the last byte was decoded.
    var problem: HTTPClientError? {
        if case .chunked(let scanner) = form, !scanner.isComplete {
            return .connectionLost("the last chunk is not complete")
        }
        if let inflater, !inflater.isWhole {
            return .invalidResponse("its body could not be decoded: it ends too early")
        }
        return nil
    }
}

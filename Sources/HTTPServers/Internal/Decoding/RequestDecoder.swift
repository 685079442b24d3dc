#if HTTPServers
    internal import NIOCore
    internal import NIOHTTP1
    internal import RunLoops

    /// The decoder of the requests of one connection, which decodes them one by one.
    ///
    /// The parser is NIOHTTP1's. It would decode everything that it is given, so it is given at most the rest of one message at a time:
    /// through the next blank line, or through the end of a body whose length is stated. What follows waits in ``buffer``.
    ///
    /// > Thread safety: the loop's own thread only.
    final class RequestDecoder {
        /// What the decoder waits for.
        private enum Expectation {
            /// The header of a request, of which this many bytes have come.
            case head(Int)
            /// The rest of a body with a stated length.
            case counted(Int)
            /// The rest of a body in chunks.
            case chunks(ChunkCost)
            /// The program's decision about the header that has come.
            case decision
        }

        /// A part of a request.
        enum Part {
            case head(HTTPRequestHead)
            case body(ByteBuffer)
            /// The end, behind a trailer or not.
            case end(hasTrailer: Bool)
        }

        private let place: LoopDecoding
        private let headerLimit: Int?
        private var parser: HTTPRequestDecoder
        private var expectation = Expectation.head(0)
        private var blankLine = BlankLineFinder()
        /// The bytes that are not decoded, and those at their beginning that the parser has seen and wants to see again.
        private var buffer = ByteBuffer()
        /// The number of bytes at the beginning of ``buffer`` that the parser has seen.
        private var seenCount = 0
        /// True if the parser stops behind the present request, because it takes what follows for another protocol, or this request
        /// for the last one of its connection.
        private var stopsBehind = false

        /// The capacity in bytes above which an empty buffer frees its memory.
        private static var keptCapacity: Int { 4096 }
        /// The maximum number of fields of a header and its trailer together.
        private static var fieldLimit: Int { 128 }

        init(_ place: LoopDecoding, headerLimit: Int?) {
            self.place = place
            self.headerLimit = headerLimit
            parser = RequestDecoder.makeParser(place)
        }

        deinit { parser.decoderRemoved(context: place.context) }

        private static func makeParser(_ place: LoopDecoding) -> HTTPRequestDecoder {
            var limits = NIOHTTPDecoderLimitConfiguration()
            // The size of a header is limited below, where the first line is told from the fields.
            limits.maxHeaderFieldSize = .max
            limits.maxHeaderListSize = .max
            limits.maxHeaderFieldCount = fieldLimit
            let parser = HTTPRequestDecoder(limitConfiguration: limits)
            parser.decoderAdded(context: place.context)
            return parser
        }

        /// Adds received bytes.
        func append(_ bytes: RawSpan) { buffer.writeBytes(bytes) }

        /// The number of bytes that wait to be decoded.
        var waitingCount: Int { buffer.readableBytes - seenCount }

        /// True if the first line of the header has come that is not complete.
        var hasFirstLine: Bool { blankLine.hasPassedLine }

        /// Removes and returns the bytes that wait.
        func takeRest() -> [UInt8] {
            defer { buffer.clear() }
            return Array(buffer.readableBytesView.dropFirst(seenCount))
        }

        /// Records what follows the header that was decoded last.
        func expect(_ body: RequestRules.Body) {
            blankLine.begin(isHeader: false)
            switch body {
            case .none: expectation = .decision
            case .counted(let count): expectation = .counted(count)
            case .chunked: expectation = .chunks(ChunkCost())
            }
        }

        /// Decodes the next bytes: at most the rest of one message.
        ///
        /// - Returns: What was decoded, which may be nothing.
        /// - Throws: The status with which the request is refused.
        func step() throws(Refusal) -> [Part] {
            let hadFirstLine = hasFirstLine
            let size = nextSize()
            if size == 0 { return [] }
            if let rest = headerRest, size > rest {
                throw Refusal(status: hadFirstLine || endsLine(within: rest) ? 431 : 414)
            }
            let parts = try feed(size)
            try account(size, parts)
            return parts
        }

        /// A request that is refused.
        struct Refusal: Error {
            let status: Int
        }

        // MARK: - The size of a step

        /// The number of bytes of the next step.
        private func nextSize() -> Int {
            switch expectation {
            case .counted(let count): return min(count, waitingCount)
            case .decision: return 0
            case .head, .chunks: break
            }
            var finder = blankLine
            defer { blankLine = finder }
            let end = unsafe buffer.withUnsafeReadableBytes { bytes in
                // Safe: the bytes are used during the call.
                finder.end(in: unsafe RawSpan(_unsafeBytes: bytes).extracting(droppingFirst: seenCount))
            }
            return end ?? waitingCount
        }

        /// The number of bytes that the header may still have; nil if there is no limit, or no header.
        private var headerRest: Int? {
            guard case .head(let count) = expectation, let headerLimit else { return nil }
            return max(0, headerLimit - count)
        }

        /// True if a line feed is among the next bytes.
        private func endsLine(within count: Int) -> Bool {
            buffer.readableBytesView.dropFirst(seenCount).prefix(count).contains(UInt8(ascii: "\n"))
        }

        // MARK: - Feeding

        private func feed(_ size: Int) throws(Refusal) -> [Part] {
            let given = seenCount + size
            guard var slice = buffer.getSlice(at: buffer.readerIndex, length: given) else {
                preconditionFailure("the bytes are there")
            }
            let list: [HTTPServerRequestPart]
            do {
                list = try place.parts {
                    _ = try parser.decode(context: place.context, buffer: &slice)
                }
            } catch { throw Refusal(status: RequestDecoder.status(of: error)) }
            buffer.moveReaderIndex(forwardBy: given - slice.readableBytes)
            seenCount = slice.readableBytes
            slice.clear()
            return list.map {
                switch $0 {
                case .head(let head): .head(head)
                case .body(let bytes): .body(bytes)
                case .end(let trailer): .end(hasTrailer: trailer != nil)
                }
            }
        }

        /// Frees or reuses the memory of what was decoded.
        func reclaim() {
            if buffer.readableBytes > 0 {
                if buffer.readerIndex >= RequestDecoder.keptCapacity { buffer.discardReadBytes() }
                return
            }
            if buffer.capacity > RequestDecoder.keptCapacity { buffer = ByteBuffer() } else { buffer.clear() }
        }

        private func account(_ size: Int, _ parts: [Part]) throws(Refusal) {
            switch expectation {
            case .head(let count): expectation = .head(count + size)
            case .counted(let count): expectation = .counted(count - size)
            case .chunks(var cost):
                var data = 0
                for case .body(let bytes) in parts { data += bytes.readableBytes }
                cost.add(size, data: data)
                if cost.isTooHigh { throw Refusal(status: 400) }
                expectation = .chunks(cost)
            case .decision: break
            }
            for part in parts {
                switch part {
                case .head(let head):
                    // The parser also takes RTSP and ICE, whose versions it reports as versions of HTTP.
                    if blankLine.lastWord != UInt8(ascii: "H") { throw Refusal(status: 505) }
                    stopsBehind = head.headers.contains(name: "upgrade") || !head.isKeepAlive
                case .body: break
                case .end(let hasTrailer):
                    expectation = .decision
                    // The parser takes the fields of a trailer for those of the header, and can close or upgrade the connection.
                    if hasTrailer { stopsBehind = true }
                }
            }
        }

        /// Prepares for the next request.
        func beginNext() {
            blankLine.begin(isHeader: true)
            expectation = .head(0)
            if !stopsBehind { return }
            stopsBehind = false
            parser.decoderRemoved(context: place.context)
            parser = RequestDecoder.makeParser(place)
            seenCount = 0
        }

        private static func status(of error: any Error) -> Int {
            switch error as? HTTPParserError {
            case .headerOverflow: 431
            case .invalidVersion: 505
            default: 400
            }
        }
    }

    /// The bytes around the data of a body in chunks: sizes, extensions, line breaks, and the trailer.
    struct ChunkCost {
        private var around = 0
        private var data = 0
        /// The bytes around the data that have come in steps behind the last one with data.
        ///
        /// They are limited for themselves, because the parser keeps a trailer until it is complete: however long the body was.
        private var aroundSinceData = 0

        /// The number of bytes that are allowed for any body, also without data in between, and for each byte of data.
        private static var base: Int { 16 << 10 }
        private static var factor: Int { 16 }

        mutating func add(_ size: Int, data: Int) {
            around += size - data
            self.data += data
            aroundSinceData = data > 0 ? 0 : aroundSinceData + size
        }

        /// True if the client sends more around the data than clients do.
        var isTooHigh: Bool {
            aroundSinceData > ChunkCost.base
                || around > ChunkCost.base && (around - ChunkCost.base) / ChunkCost.factor > data
        }
    }
#endif

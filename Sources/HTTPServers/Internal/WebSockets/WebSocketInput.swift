#if HTTPServers
    /// What a client sends over a WebSocket, taken apart as it comes.
    ///
    /// The input stores no more than the limit of a message, and the bytes that have come of a frame of control.
    struct WebSocketInput {
        /// Something that the client has sent completely.
        enum Event: Equatable {
            case message(WebSocket.Message)
            case ping([UInt8])
            case pong([UInt8])
            /// The code is nil if the frame has none.
            case close(WebSocket.CloseCode?, reason: String)
        }

        private enum Place {
            /// In a header, of which these bytes have come.
            case header([UInt8])
            /// In the bytes of a frame, of which this many have come.
            case payload(WebSocketFrame, count: Int)
            /// Behind a frame that closes, or one that breaks the rules. Whatever follows is ignored.
            case end
        }

        /// The message under way, of which one or more frames have come.
        private struct Message {
            var bytes: [UInt8] = []
            /// Nil for a message that is no text.
            var check: TextCheck?
        }

        private let messageByteLimit: Int
        private var place = Place.header([])
        private var message: Message?
        /// The bytes of a frame of control, which may come between the frames of a message.
        private var control: [UInt8] = []

        /// - Parameter messageByteLimit: The maximum number of bytes of a message; nil for no limit.
        init(messageByteLimit: Int?) { self.messageByteLimit = messageByteLimit ?? .max }

        /// Takes the next bytes, at most through the end of one frame.
        ///
        /// - Parameters:
        ///   - bytes: One or more bytes.
        ///   - consumed: The number of bytes that were taken, which is not zero.
        /// - Returns: What is complete with these bytes.
        /// - Throws: The code with which the connection is closed, because the client breaks a rule or exceeds the limit.
        mutating func next(in bytes: RawSpan, consumed: inout Int) throws(WebSocket.CloseCode) -> Event? {
            do { return try step(bytes, &consumed) } catch {
                place = .end
                message = nil
                throw error
            }
        }

        private mutating func step(_ bytes: RawSpan, _ consumed: inout Int) throws(WebSocket.CloseCode)
            -> Event?
        {
            consumed = 0
            if case .header(let known) = place {
                var header = known
                while header.count < WebSocketFrame.headerCount(header), consumed < bytes.byteCount {
                    header.append(bytes.byte(consumed))
                    consumed += 1
                }
                if header.count < WebSocketFrame.headerCount(header) {
                    place = .header(header)
                    return nil
                }
                let frame = try WebSocketFrame(header)
                try begin(frame)
                place = .payload(frame, count: 0)
            }
            guard case .payload(let frame, let count) = place else {
                consumed = bytes.byteCount
                return nil
            }
            let size = min(frame.length - count, bytes.byteCount - consumed)
            try take(bytes.extracting(consumed..<consumed + size), frame, from: count)
            consumed += size
            place = .payload(frame, count: count + size)
            return count + size == frame.length ? try end(frame) : nil
        }

        private mutating func begin(_ frame: WebSocketFrame) throws(WebSocket.CloseCode) {
            if frame.opcode.isControl { return }
            if (frame.opcode == .continuation) != (message != nil) { throw .protocolError }
            if frame.length > messageByteLimit - (message?.bytes.count ?? 0) { throw .messageTooBig }
            if message == nil { message = Message(check: frame.opcode == .text ? TextCheck() : nil) }
        }

        /// Takes bytes of a frame, and checks those of a text at once.
        private mutating func take(
            _ bytes: RawSpan, _ frame: WebSocketFrame, from index: Int
        ) throws(WebSocket.CloseCode) {
            if frame.opcode.isControl { return frame.mask.append(bytes, from: index, to: &control) }
            guard var current = message.take() else { return }
            let known = current.bytes.count
            frame.mask.append(bytes, from: index, to: &current.bytes)
            if current.check?.accepts(current.bytes[known...]) == false { throw .invalidText }
            message = current
        }

        private mutating func end(_ frame: WebSocketFrame) throws(WebSocket.CloseCode) -> Event? {
            place = .header([])
            if frame.opcode.isControl {
                defer { control = [] }
                switch frame.opcode {
                case .ping: return .ping(control)
                case .pong: return .pong(control)
                default:
                    place = .end
                    return try WebSocketInput.close(control)
                }
            }
            guard frame.isFinal, let whole = message else { return nil }
            message = nil
            guard let check = whole.check else { return .message(.binary(whole.bytes)) }
            if !check.isComplete { throw .invalidText }
            return .message(.text(String(decoding: whole.bytes, as: UTF8.self)))
        }

        private static func close(_ bytes: [UInt8]) throws(WebSocket.CloseCode) -> Event {
            if bytes.isEmpty { return .close(nil, reason: "") }
            if bytes.count == 1 { throw .protocolError }
            let code = WebSocket.CloseCode(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
            if !code.maySend { throw .protocolError }
            var check = TextCheck()
            guard check.accepts(bytes[2...]), check.isComplete else { throw .invalidText }
            return .close(code, reason: String(decoding: bytes[2...], as: UTF8.self))
        }
    }

    extension RawSpan {
        /// The byte at an index within the bytes.
        func byte(_ index: Int) -> UInt8 {
            // Safe: any bits are a valid byte, and the index is checked.
            unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
        }
    }
#endif

#if HTTPServers
    /// The header of a frame of the WebSocket protocol (RFC 6455, section 5.2).
    ///
    /// `SwiftNIO`'s decoder delivers whole frames only, and leaves most rules to its user. Here, a frame is taken piece by piece, so that
    /// a text is checked as it comes, and a connection stores no byte that breaks a rule.
    struct WebSocketFrame: Equatable {
        let opcode: Opcode
        /// True if the frame is the last one of its message.
        let isFinal: Bool
        let length: Int
        let mask: Mask

        /// What a frame carries.
        enum Opcode: UInt8 {
            case continuation = 0
            case text = 1
            case binary = 2
            case close = 8
            case ping = 9
            case pong = 10

            var isControl: Bool { rawValue >= 8 }
        }

        /// The key with which a client hides the bytes of a frame from machines between it and the server.
        struct Mask: Equatable {
            let key: UInt32

            /// Appends bytes of a frame without their mask.
            ///
            /// - Parameters:
            ///   - bytes: The bytes as they came.
            ///   - start: The index in the frame of the first of them.
            ///   - result: Where they are appended.
            func append(_ bytes: RawSpan, from start: Int, to result: inout [UInt8]) {
                for index in 0..<bytes.byteCount {
                    let shift = UInt32(24 - 8 * ((start + index) & 3))
                    result.append(bytes.byte(index) ^ UInt8(truncatingIfNeeded: key >> shift))
                }
            }
        }

        /// The number of bytes that a frame of control carries at most.
        static let controlLimit = 125

        /// The number of bytes of the header that begins with the given bytes, as far as they tell it.
        static func headerCount(_ bytes: [UInt8]) -> Int {
            guard bytes.count >= 2 else { return 2 }
            let mask = bytes[1] & 0x80 == 0 ? 0 : 4
            return switch bytes[1] & 0x7f {
            case 126: 4 + mask
            case 127: 10 + mask
            default: 2 + mask
            }
        }

        /// Reads a complete header.
        ///
        /// - Parameter header: As many bytes as ``headerCount(_:)`` says.
        /// - Throws: The code for a header that no client may send.
        init(_ header: [UInt8]) throws(WebSocket.CloseCode) {
            // No extension is agreed upon that would give the reserved bits a meaning. A client must mask what it sends.
            guard header[0] & 0x70 == 0, let opcode = Opcode(rawValue: header[0] & 0x0f),
                header[1] & 0x80 != 0
            else { throw .protocolError }
            let short = UInt64(header[1] & 0x7f)
            let end = header.count - 4
            let length = end == 2 ? short : header[2..<end].reduce(0) { $0 << 8 | UInt64($1) }
            // Only the shortest form is allowed, and the highest bit must be 0.
            let shortest: UInt64 = end == 2 ? 0 : end == 4 ? 126 : 1 << 16
            guard length >= shortest, let length = Int(exactly: length) else { throw .protocolError }
            isFinal = header[0] & 0x80 != 0
            if opcode.isControl && (!isFinal || length > WebSocketFrame.controlLimit) { throw .protocolError }
            self.opcode = opcode
            self.length = length
            mask = Mask(key: header[end...].reduce(0) { $0 << 8 | UInt32($1) })
        }

        /// The header of a frame that a server sends: whole, and not masked.
        static func header(_ opcode: Opcode, count: Int) -> [UInt8] {
            let first = 0x80 | opcode.rawValue
            return switch count {
            case ..<126: [first, UInt8(count)]
            case ..<(1 << 16): [first, 126, UInt8(count >> 8), UInt8(count & 0xff)]
            default:
                [first, 127]
                    + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
            }
        }

        /// The bytes of a frame that closes.
        static func closing(_ code: WebSocket.CloseCode, _ reason: String) -> [UInt8] {
            [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xff)] + Array(reason.utf8)
        }
    }
#endif

#if HTTPServers
    /// The computation of the value with which a server accepts a WebSocket (RFC 6455).
    enum WebSocketKey {
        /// Returns the value of `Sec-WebSocket-Accept` for a value of `Sec-WebSocket-Key`.
        static func accept(_ key: String) -> String {
            base64(sha1(Array(key.utf8) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
        }

        /// True for 16 bytes in Base64, which a client must send as the key.
        static func isKey(_ text: String) -> Bool {
            text.utf8.count == 24 && text.hasSuffix("==")
                && text.utf8.dropLast(2).allSatisfy(letters.contains)
        }

        private static let letters = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

        /// Returns the SHA-1 digest of a message, which the WebSocket protocol prescribes.
        ///
        /// The security of the connection does not depend on the digest.
        static func sha1(_ message: [UInt8]) -> [UInt8] {
            var bytes = message
            bytes.append(0x80)
            while bytes.count % 64 != 56 { bytes.append(0) }
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: (message.count * 8) >> shift))
            }
            var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
            for start in stride(from: 0, to: bytes.count, by: 64) {
                mix(bytes[start..<start + 64], into: &state)
            }
            return state.flatMap { word in
                stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
            }
        }

        private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
            var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
                block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<80 {
                words.append(
                    rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for index in 0..<80 {
                let (choice, constant): (UInt32, UInt32) =
                    switch index {
                    case ..<20: (b & c | ~b & d, 0x5a82_7999)
                    case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                    case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                    default: (b ^ c ^ d, 0xca62_c1d6)
                    }
                let sum = rotate(a, 5) &+ choice &+ e &+ constant &+ words[index]
                (a, b, c, d, e) = (sum, a, rotate(b, 30), c, d)
            }
            for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
        }

        private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
            word << count | word >> (32 - count)
        }

        static func base64(_ bytes: [UInt8]) -> String {
            var text: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let part = bytes[start..<min(start + 3, bytes.count)]
                let word = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
                for index in 0..<4 {
                    text.append(
                        index <= part.count ? letters[word >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
                }
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
#endif

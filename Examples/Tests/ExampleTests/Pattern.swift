import Foundation

/// A stream of bytes that both ends know: a random block, again and again.
///
/// The length of the block is a prime, so that a part that is lost, arrives twice or is in the wrong place does not match.
struct Pattern: Sendable {
    private let block: [UInt8]
    private static let length = 1_048_573

    init(seed: UInt64) {
        var random = Random(seed: seed)
        block = (0..<Pattern.length).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    /// Returns bytes of the stream.
    ///
    /// - Parameters:
    ///   - position: The position of the first byte.
    ///   - most: The maximum number of bytes.
    /// - Returns: The bytes from the position on, at most to the end of the block.
    func chunk(at position: Int, of most: Int) -> ArraySlice<UInt8> {
        let start = position % Pattern.length
        return block[start..<min(start + most, Pattern.length)]
    }

    /// Sends the beginning of the stream in random chunks, and ends the output.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - peer: The socket.
    ///   - seed: The seed of the chunks and pauses.
    /// - Returns: The number of bytes.
    /// - Throws: ``Failure`` if the connection ends, or there is no room.
    func send(_ count: Int, to peer: Peer, pauses seed: UInt64) throws -> Int {
        var random = Random(seed: seed)
        var sent = 0
        while sent < count {
            random.pause()
            let most = min(Int.random(in: 1...262_144, using: &random), count - sent)
            guard let part = try peer.sendSome(chunk(at: sent, of: most), milliseconds: 30_000) else {
                throw Failure("no room after \(sent) bytes")
            }
            sent += part
        }
        peer.endOutput()
        return sent
    }

    /// Receives in random chunks until the end, and compares each byte.
    ///
    /// - Parameters:
    ///   - peer: The socket.
    ///   - seed: The seed of the chunks and pauses, or nil for large chunks without pauses.
    /// - Returns: The number of bytes.
    /// - Throws: ``Failure`` if a byte differs, the connection is reset, or no byte arrives.
    func receive(on peer: Peer, pauses seed: UInt64?) throws -> Int {
        var random = Random(seed: seed ?? 0)
        var received = 0
        var buffer = [UInt8](repeating: 0, count: 262_144)
        while true {
            if seed != nil { random.pause() }
            let most = seed == nil ? buffer.count : Int.random(in: 1...buffer.count, using: &random)
            if !peer.isReady(POLLIN) { throw Failure("nothing comes after \(received) bytes") }
            let count = recv(peer.descriptor, &buffer, most, 0)
            if count < 0 { throw Failure(call: "recv") }
            if count == 0 { return received }
            var compared = 0
            while compared < count {
                let part = chunk(at: received + compared, of: count - compared)
                let isEqual = part.withUnsafeBytes { part in
                    buffer.withUnsafeBytes { buffer in
                        guard let wanted = part.baseAddress, let got = buffer.baseAddress else {
                            return false
                        }
                        return memcmp(wanted, got + compared, part.count) == 0
                    }
                }
                if !isEqual { throw Failure("another byte among those from \(received + compared)") }
                compared += part.count
            }
            received += count
        }
    }
}

/// Random numbers that a seed determines, in the manner of SplitMix64.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Pauses for up to two milliseconds, one time in twenty.
    ///
    /// The pauses are the purpose of the test: the other side has to wait, or runs out of bytes.
    mutating func pause() {
        if next() % 20 == 0 { usleep(UInt32(next() % 2_000)) }
    }
}

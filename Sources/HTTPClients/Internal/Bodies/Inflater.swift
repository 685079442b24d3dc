internal import CTransfers

/// Decodes a body in one of the codings that the client offers, in steps.
@safe
final class Inflater {
    /// The maximum number of bytes that one step writes, and of those that it reads.
    ///
    /// Bytes that are decoded to nothing take time, too, so both are limited.
    static let (stepOutput, stepInput) = (32 << 10, 4 << 10)

    private let decoder: OpaquePointer

    /// Makes a decoder, or nil if there is no memory.
    ///
    /// - Parameter coding: The coding.
    init?(_ coding: runloops_coding) {
        guard let decoder = unsafe runloops_inflater_new(coding) else { return nil }
        unsafe self.decoder = decoder
    }

    deinit { unsafe runloops_inflater_free(decoder) }

    /// True if the decoder can have more output without more input.
    var isFull: Bool { unsafe runloops_inflater_is_full(decoder) }

    /// True if the body may end after the bytes that were decoded.
    var isWhole: Bool { unsafe runloops_inflater_is_whole(decoder) }

    /// Decodes some bytes, and appends the result to an array.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; at most ``stepInput`` of them are read.
    ///   - output: The array, to which at most ``stepOutput`` bytes are appended.
    /// - Returns: The number of bytes that were read.
    /// - Throws: An error if the bytes are not in the coding.
    func step(_ bytes: ArraySlice<UInt8>, _ output: inout [UInt8]) throws(HTTPClientError) -> Int {
        var count = min(bytes.count, Inflater.stepInput)
        var result = runloops_inflated
        // Safe: C reads and writes within the two buffers, whose sizes it gets.
        let made = unsafe [UInt8](unsafeUninitializedCapacity: Inflater.stepOutput) { room, written in
            written = room.count
            result = unsafe bytes.withUnsafeBytes { bytes in
                unsafe runloops_inflate(decoder, bytes.baseAddress, &count, room.baseAddress, &written)
            }
        }
        switch result {
        case runloops_inflated: break
        case runloops_inflate_no_memory: throw .other(code: 27, "out of memory")
        default: throw .invalidResponse("its body could not be decoded")
        }
        if output.isEmpty { output = made } else { output += made }
        return count
    }
}

internal import CTransfers
internal import Glibc
internal import RunLoops

/// A request body that is read from a descriptor.
final class UploadFile {
    private let owned: OwnedDescriptor
    private let isRegular: Bool
    /// The offset in a regular file at which the body begins.
    private let start: Int64
    /// The number of bytes of the body; nil if the descriptor is not one of a regular file.
    let count: Int?
    private var given: Int64 = 0

    init(_ descriptor: consuming OwnedDescriptor) {
        owned = descriptor
        var isRegular = false
        var start: Int64 = 0
        let rest = unsafe runloops_file_rest(owned.descriptor, &isRegular, &start)
        self.isRegular = isRegular
        self.start = start
        count = isRegular ? Int(rest) : nil
        if !isRegular {
            // If the descriptor is not open, the first read fails.
            let flags = fcntl(owned.descriptor, F_GETFL)
            if flags != -1 { _ = fcntl(owned.descriptor, F_SETFL, flags | O_NONBLOCK) }
        }
    }

    var descriptor: CInt { owned.descriptor }

    /// Reads the next bytes of the body into memory of libcurl.
    ///
    /// - Returns: The number of bytes; 0 at the end of the body, nil if the next bytes are not available yet.
    func give(_ room: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        while true {
            let wanted = count.map { min(room.count, $0 - Int(given)) } ?? room.count
            if wanted == 0 { return 0 }
            // Safe: the kernel writes at most `wanted` bytes into the room.
            let result =
                isRegular
                ? unsafe pread(owned.descriptor, room.baseAddress, wanted, off_t(start + given))
                : unsafe read(owned.descriptor, room.baseAddress, wanted)
            if result < 0 {
                let code = errno
                if code == EINTR { continue }
                if code == EAGAIN && !isRegular { return nil }
                throw SystemError(call: isRegular ? "pread" : "read", code: code)
            }
            // The file has become shorter since the transfer began, but the server was already told the old length.
            if result == 0 && count != nil { throw SystemError(call: "pread", code: ENODATA) }
            given += Int64(result)
            return result
        }
    }

    /// Makes the body begin again at its first byte, if that is possible.
    ///
    /// - Returns: False if the body cannot be sent again.
    func rewind() -> Bool {
        if !isRegular && given > 0 { return false }
        given = 0
        return true
    }
}

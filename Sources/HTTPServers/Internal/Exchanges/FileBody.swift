#if HTTPServers
    internal import Glibc
    internal import RunLoops

    /// A file that is the body of a response.
    final class FileBody {
        private let file: OwnedDescriptor
        /// The number of bytes that are left, from the file's offset to its end.
        private(set) var left: Int

        /// The number of bytes that are read at a time.
        private static var pieceSize: Int { 65_536 }

        /// Takes over a descriptor; nil if it does not refer to a regular file that can be read.
        init?(_ file: consuming OwnedDescriptor) {
            var status = stat()
            let descriptor = file.descriptor
            // Safe: the kernel fills a local variable.
            let isKnown = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            let offset = lseek(descriptor, 0, SEEK_CUR)
            if !isKnown || offset < 0 { return nil }
            left = max(0, Int(status.st_size) - Int(offset))
            self.file = file
        }

        /// Reads the next piece; nil if the file cannot be read, or has become shorter.
        func next() -> [UInt8]? {
            let size = min(left, FileBody.pieceSize)
            // Safe: the kernel writes at most as many bytes as there is room for, and returns how many.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = max(0, unsafe read(file.descriptor, buffer.baseAddress, size))
            }
            left -= bytes.count
            return bytes.isEmpty ? nil : bytes
        }
    }
#endif

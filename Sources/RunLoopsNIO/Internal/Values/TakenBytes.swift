#if NIO
    internal import DequeModule
    internal import Glibc
    internal import NIOCore
    internal import Streams

    /// What a filter has taken of the writes of a channel, and has not sent: a number of bytes at the beginning of the writes.
    ///
    /// The bytes stay among the writes until the kernel has accepted what the filter has made of them, so that a promise is completed
    /// then, and not before.
    struct TakenBytes {
        private var parts = Deque<Part>()
        private var count = 0

        /// Bytes that the filter has taken in one call.
        private struct Part {
            let count: Int
            /// The value of the filter's `flushedCount` when all of the bytes are sent.
            let end: Int
        }

        var isEmpty: Bool { parts.isEmpty }

        /// The maximum number of bytes that are read from a file in one step.
        private static var mostOfFile: Int { 16 << 10 }

        /// Gives the filter flushed writes, as many as it takes now.
        ///
        /// - Throws: `IOError` if a file cannot be read.
        mutating func offer(_ output: OutputSide, to filter: any StreamFilter) throws(IOError) {
            var skipped = count
            var given = 0
            for write in output.writes.prefix(output.flushedCount) where given < OutputSide.mostBytes {
                let size = write.data.readableBytes
                if skipped >= size {
                    skipped -= size
                    continue
                }
                while skipped < size {
                    let (accepted, offered) = try TakenBytes.give(write.data, from: skipped, to: filter)
                    if accepted > 0 {
                        parts.append(Part(count: accepted, end: filter.flushedCount + filter.heldCount))
                    }
                    count += accepted
                    given += accepted
                    skipped += accepted
                    if accepted < offered { return }
                }
                skipped = 0
            }
        }

        /// Gives the filter a part of one write.
        ///
        /// - Returns: The number of bytes that it has taken, and the number that were there to be taken.
        private static func give(
            _ data: IOData, from start: Int, to filter: any StreamFilter
        ) throws(IOError) -> (accepted: Int, offered: Int) {
            switch data {
            case .byteBuffer(let buffer):
                let offered = buffer.readableBytes - start
                // Safe: the filter reads the bytes during the call.
                return unsafe buffer.withUnsafeReadableBytes { bytes in
                    (unsafe filter.take(UnsafeRawBufferPointer(rebasing: bytes[start...])), offered)
                }
            case .fileRegion(let region):
                let bytes = try region.read(from: start, atMost: mostOfFile)
                // Safe: the filter reads the bytes during the call.
                return (unsafe bytes.withUnsafeBytes { unsafe filter.take($0) }, bytes.count)
            }
        }

        /// Removes the bytes that are sent.
        ///
        /// - Returns: Their number.
        mutating func sent(by filter: any StreamFilter) -> Int {
            var sent = 0
            while let first = parts.first, first.end <= filter.flushedCount {
                sent += first.count
                parts.removeFirst()
            }
            count -= sent
            return sent
        }
    }

    extension FileRegion {
        /// Reads a part of the region.
        ///
        /// - Throws: `IOError` if the file cannot be read, or is shorter than the region.
        fileprivate func read(from start: Int, atMost limit: Int) throws(IOError) -> [UInt8] {
            let size = min(readableBytes - start, limit)
            var code: CInt = 0
            // Safe: the kernel writes at most `size` bytes into memory of this size.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { memory, count in
                do {
                    count = try fileHandle.withUnsafeFileDescriptor { file in
                        let result = unsafe pread(file, memory.baseAddress, size, off_t(readerIndex + start))
                        if result <= 0 { code = result == 0 ? EIO : errno }
                        return max(result, 0)
                    }
                } catch {
                    count = 0
                    code = (error as? IOError)?.errnoCode ?? EBADF
                }
            }
            if code != 0 { throw IOError(errnoCode: code, reason: "pread") }
            return bytes
        }
    }
#endif

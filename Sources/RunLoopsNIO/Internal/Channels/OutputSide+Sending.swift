#if NIO
    internal import DequeModule
    internal import CRunLoops
    internal import Glibc
    internal import NIOCore
    internal import Streams

    extension DrivenOutput {
        /// Sends as much of some parts as one system call accepts.
        fileprivate func send(_ parts: UnsafePointer<runloops_part>?, _ count: CInt) -> Int {
            // Safe: the parts are valid during the call.
            isSocket
                ? unsafe runloops_send_parts(descriptor, parts, count)
                : unsafe runloops_write_parts(descriptor, parts, count)
        }
    }

    extension OutputSide {
        /// The maximum number of bytes that one call sends; the kernel copies them in one go, or reads them from a disk.
        static var mostBytes: Int { 256 << 10 }

        /// Sends flushed writes, as many as one system call takes.
        ///
        /// - Parameter target: The socket or other file.
        /// - Returns: The number of sent bytes, or why none could be sent.
        func send(to target: DrivenOutput) -> TransportResult {
            guard let first = writes.first else { return .bytes(0) }
            switch first.data {
            case .byteBuffer(let buffer):
                if flushedCount > 1, case .byteBuffer = writes[1].data {
                    return sendSeveral(to: target)
                }
                if buffer.readableBytes == 0 { return .bytes(0) }
                // Safe: the kernel reads the bytes during the call.
                return unsafe buffer.withUnsafeReadableBytes { bytes in
                    var part = unsafe runloops_part(
                        bytes: bytes.baseAddress, count: min(bytes.count, OutputSide.mostBytes))
                    return unsafe TransportResult(target.send(&part, 1), "write")
                }
            case .fileRegion(let region): return OutputSide.send(region, to: target.descriptor)
            }
        }

        private func sendSeveral(to target: DrivenOutput) -> TransportResult {
            let most = min(flushedCount, Int(runloops_most_parts))
            // Safe: the parts point into the memory of the buffers, which this value holds, and which nothing changes during the call.
            return unsafe withUnsafeTemporaryAllocation(of: runloops_part.self, capacity: most) { parts in
                var count = 0
                var byteCount = 0
                for write in writes.prefix(most) where byteCount < OutputSide.mostBytes {
                    guard case .byteBuffer(let buffer) = write.data else { break }
                    let size = min(buffer.readableBytes, OutputSide.mostBytes - byteCount)
                    byteCount += size
                    unsafe buffer.withUnsafeReadableBytes {
                        unsafe (parts.baseAddress! + count).initialize(
                            to: runloops_part(bytes: $0.baseAddress, count: size))
                    }
                    count += 1
                    if size < buffer.readableBytes { break }
                }
                if byteCount == 0 { return .bytes(0) }
                return unsafe TransportResult(target.send(parts.baseAddress, CInt(count)), "writev")
            }
        }

        private static func send(_ region: FileRegion, to descriptor: CInt) -> TransportResult {
            if region.readableBytes == 0 { return .bytes(0) }
            do {
                let result = try region.fileHandle.withUnsafeFileDescriptor { file in
                    TransportResult(
                        runloops_send_file(
                            descriptor, file, Int64(region.readerIndex),
                            min(region.readableBytes, OutputSide.mostBytes)),
                        "sendfile")
                }
                // The file is shorter than the region.
                if case .bytes(0) = result { return .failed(IOError(errnoCode: EIO, reason: "sendfile")) }
                return result
            } catch let error as IOError {
                return .failed(error)
            } catch {
                // `withUnsafeFileDescriptor` throws this type only; any other error means that the handle cannot be used.
                return .failed(IOError(errnoCode: EBADF, reason: "sendfile"))
            }
        }
    }
#endif

internal import Glibc
public import RunLoops

extension FlightRecorder.Snapshot {
    /// Returns the recording as the contents of a file.
    ///
    /// The file contains names of threads, places in the source, and times. The method takes some microseconds for each event.
    ///
    /// - Parameter format: The format.
    /// - Returns: The bytes of the file.
    public func bytes(as format: TraceFormat) -> [UInt8] {
        let trace = Trace(self)
        return switch format {
        case .perfetto: PerfettoTrace(trace).bytes
        case .chromeJSON: Array(ChromeTrace(trace).text.utf8)
        case .page: Array(TimelinePage(trace).text.utf8)
        }
    }

    /// Writes the recording to a descriptor, at the descriptor's current position.
    ///
    /// Blocks while the descriptor accepts no bytes. A signal does not end the call. A write that the system refuses raises no
    /// signal: if a pipe has no reader, the error is `EPIPE`, and beyond the limit on the size of files it is `EFBIG`.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of a file, pipe or socket, which the caller continues to own.
    ///   - format: The format.
    /// - Throws: `SystemError` if the system refuses a write, for example because the disk is full. The file then keeps the bytes
    ///   that were written before the error.
    public func write(to descriptor: CInt, as format: TraceFormat) throws(SystemError) {
        try descriptor.write(bytes(as: format))
    }
}

extension CInt {
    /// Writes all bytes to a descriptor.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: `SystemError` if the system refuses a write, which raises no signal.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try WriteSignals.hold { () throws(SystemError) in try writeAll(bytes) }
    }

    private func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            // Safe: the bytes lie in the array, which lives through the call.
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(self, bytes.baseAddress! + written, bytes.count - written)
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                var polled = pollfd(fd: self, events: Int16(POLLOUT), revents: 0)
                // Safe: the kernel writes into `polled`, which is ours and the only entry.
                _ = unsafe poll(&polled, 1, -1)
            } else if errno != EINTR {
                throw SystemError(call: "write", code: errno)
            }
        }
    }
}

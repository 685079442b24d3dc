internal import Glibc

/// The kernel refused a system call.
///
/// What still holds afterwards is said by the operation that throws it; nothing that was opened on the
/// way is left open.
///
/// > Thread safety: a value.
public struct SystemError: Error, Hashable, Sendable {
    /// The name of the system call, as in its manual page.
    public let call: String

    /// The call's `errno`.
    public let code: CInt

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - call: The name of the system call, as in its manual page.
    ///   - code: The call's `errno`.
    public init(call: String, code: CInt) {
        self.call = call
        self.code = code
    }
}

extension SystemError: CustomStringConvertible {
    /// The call, the system's words for the code, and the code, as in `eventfd: Too many open files (24)`.
    public var description: String {
        let words = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer -> String in
            // Safe: at most `count` bytes of our own buffer are written, zero-terminated.
            guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else {
                return "unknown error"
            }
            return unsafe String(cString: start)
        }
        return "\(call): \(words) (\(code))"
    }
}

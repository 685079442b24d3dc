internal import Glibc

/// The error of a system call that the kernel refused.
///
/// A member that throws this error has closed all descriptors that it opened before the error. The documentation of the member
/// describes the state after the error.
///
/// Errors that differ only in the source, port or file that the call was for are equal.
///
/// > Thread safety: a value.
public struct SystemError: Error, Hashable, Sendable {
    /// The name of the system call, as in its manual page.
    public let call: String

    /// The call's `errno`.
    public let code: CInt

    package var origin = ErrorOrigin.unknown

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

extension SystemError: ErrorWithOrigin, CustomStringConvertible {
    /// The error in words, as in `eventfd: Too many open files (24)`.
    ///
    /// The text contains the source, port or file that the call was for (if it is known), the call, the system's text for the code,
    /// and the code.
    public var description: String {
        let words = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer -> String in
            // Safe: the function writes at most `count` bytes into the local buffer, zero-terminated.
            guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else {
                return "unknown error"
            }
            return unsafe String(cString: start)
        }
        return origin.describing("\(call): \(words) (\(code))")
    }
}

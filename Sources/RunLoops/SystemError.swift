internal import Glibc

/// The error of a system call that the kernel refused.
///
/// A member that throws this error has closed all descriptors that it opened before the error. The documentation of the member
/// describes the state after the error.
///
/// > Thread safety: a value.
public struct SystemError: Error, Hashable, Sendable {
    /// The name of the system call, as in its manual page.
    public let call: String

    /// The call's `errno`.
    public let code: CInt

    /// The source, port or file that the call was for, if it is known.
    ///
    /// Errors that differ only in the origin are equal.
    public let origin: ErrorOrigin

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - call: The name of the system call, as in its manual page.
    ///   - code: The call's `errno`.
    public init(call: String, code: CInt) {
        self.call = call
        self.code = code
        origin = .unknown
    }

    package init(call: String, code: CInt, origin: ErrorOrigin) {
        self.call = call
        self.code = code
        self.origin = origin
    }

    /// Returns this error, with the given origin if its own origin is unknown.
    package func about(_ origin: @autoclosure () -> ErrorOrigin) -> SystemError {
        self.origin.isUnknown ? SystemError(call: call, code: code, origin: origin()) : self
    }
}

extension SystemError: CustomStringConvertible {
    /// The error in words, as in `eventfd: Too many open files (24)`.
    ///
    /// The text contains the origin (if it is known), the call, the system's text for the code, and the code.
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

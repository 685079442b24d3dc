internal import HTTPMessages

/// The checks of a request's header that libmicrohttpd does not make.
///
/// Most of them prevent a proxy from mistaking one request for two. One limits the stated length of the body.
struct RequestRules {
    /// The result of checking the header of a request.
    enum Verdict: Equatable {
        /// The request is valid. A body follows the header if `hasBody` is true.
        case accepted(hasBody: Bool)
        /// The request is refused, and gets an answer with this status.
        case refused(Int)
    }

    private let bodyLimit: Int?
    /// The status of the answer if a field has broken a rule; nil if none has.
    ///
    /// After the first such field, no more fields are checked.
    private var refusal: Int?
    private var length = 0
    private var lengths = 0
    private var encodings = 0
    private var hosts = 0

    /// Creates the checks for one request, before its first field.
    ///
    /// - Parameter bodyLimit: The maximum number of bytes of a body; nil for no limit.
    init(bodyLimit: Int?) { self.bodyLimit = bodyLimit }

    /// Checks the next field of the header.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if refusal != nil { return }
        if !MessageRules.isToken(name) {
            refusal = 400
            return
        }
        switch name.count {
        case 4 where isEqual(name, "Host"): hosts += 1
        case 14 where isEqual(name, "Content-Length"):
            lengths += 1
            addLength(value)
        case 17 where isEqual(name, "Transfer-Encoding"):
            encodings += 1
            if !isEqual(value, "chunked") { refusal = 501 }
        default: break
        }
    }

    private mutating func addLength(_ digits: Span<UInt8>) {
        length = 0
        if digits.isEmpty { refusal = 400 }
        for index in digits.indices {
            let digit = digits[index]
            if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
                refusal = 400
                return
            }
            let (tens, isTooLong) = length.multipliedReportingOverflow(by: 10)
            let (sum, isLonger) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            // The loop continues, because a later character that is not a digit changes the status to 400.
            if isTooLong || isLonger { refusal = 413 }
            length = isTooLong || isLonger ? 0 : sum
        }
        if let bodyLimit, length > bodyLimit { refusal = 413 }
    }

    /// Returns the result for the whole header, after all its fields were added.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - version: The version of HTTP.
    /// - Returns: The result of all checks.
    func verdict(method: String, version: String) -> Verdict {
        if !MessageRules.isToken(method) { return .refused(400) }
        if let refusal { return .refused(refusal) }
        if lengths + encodings > 1 || hosts > 1 || hosts == 0 && version != "1.0" { return .refused(400) }
        return .accepted(hasBody: length > 0 || encodings > 0)
    }

    private func isEqual(_ letters: Span<UInt8>, _ word: String) -> Bool {
        HTTPFields.areEqual(letters, word.utf8.span)
    }
}

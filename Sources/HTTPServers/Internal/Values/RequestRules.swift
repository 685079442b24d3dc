internal import HTTPMessages

/// The rules of HTTP that libmicrohttpd does not check.
///
/// Each rule prevents a proxy from mistaking one request for two.
enum RequestRules {
    /// The result of checking the header of a request.
    enum Verdict: Equatable {
        /// The request is valid. A body follows the header if `hasBody` is true.
        case accepted(hasBody: Bool)
        /// The request is refused with a status.
        case refused(Int)
    }

    /// Checks the header of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bodyLimit: The maximum number of bytes of a body; nil for no limit.
    /// - Returns: The result.
    static func verdict(on request: HTTPServer.Request, bodyLimit: Int?) -> Verdict {
        if !MessageRules.isToken(request.method) { return .refused(400) }
        var length = 0
        var lengths = 0
        var encodings = 0
        var hosts = 0
        let fields = request.fields.fields.span
        for index in fields.indices {
            if !MessageRules.isToken(fields[index].name) { return .refused(400) }
            switch fields[index].name.utf8.count {
            case 4 where HTTPFields.areEqual(fields[index].name, "Host"): hosts += 1
            case 14 where HTTPFields.areEqual(fields[index].name, "Content-Length"):
                lengths += 1
                let digits = fields[index].value
                if digits.isEmpty || !digits.utf8.allSatisfy(isDigit) { return .refused(400) }
                guard let value = Int(digits) else { return .refused(413) }
                if let bodyLimit, value > bodyLimit { return .refused(413) }
                length = value
            case 17 where HTTPFields.areEqual(fields[index].name, "Transfer-Encoding"):
                encodings += 1
                if !HTTPFields.areEqual(fields[index].value, "chunked") { return .refused(501) }
            default: break
            }
        }
        if lengths + encodings > 1 || hosts > 1 || hosts == 0 && request.version != "1.0" {
            return .refused(400)
        }
        return .accepted(hasBody: length > 0 || encodings > 0)
    }

    private static func isDigit(_ letter: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(letter)
    }
}

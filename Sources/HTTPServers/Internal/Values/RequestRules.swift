#if HTTPServers
    internal import NIOHTTP1

    /// The checks of a request's header that the parser does not make.
    ///
    /// Most of them prevent a proxy from mistaking one request for two. One limits the stated length of the body.
    struct RequestRules {
        /// What follows a header.
        enum Body: Equatable {
            case none
            /// A body with this number of bytes.
            case counted(Int)
            case chunked
        }

        /// The result of checking the header of a request.
        enum Verdict: Equatable {
            case accepted(Facts)
            /// The request is refused, and gets a response with this status.
            case refused(Int)
        }

        /// What the fields say about the connection and the body.
        struct Facts: Equatable {
            var body = Body.none
            var host: String?
            /// True if the client waits for `100 Continue` before it sends the body.
            var expectsContinue = false
            var asksForClose = false
            var asksForKeepAlive = false
        }

        private let bodyLimit: Int?
        /// The status of the response if a field has broken a rule; nil if none has.
        ///
        /// After the first such field, no more fields are checked.
        private var refusal: Int?
        private var facts = Facts()
        private var lengths = 0
        private var encodings = 0
        private var hosts = 0

        /// Creates the checks for one request, before its first field.
        ///
        /// - Parameter bodyLimit: The maximum number of bytes of a body; nil for no limit.
        init(bodyLimit: Int?) { self.bodyLimit = bodyLimit }

        /// Checks the next field of the header.
        mutating func add(_ name: String, _ value: String) {
            if refusal != nil { return }
            if !FieldText.isToken(name) || value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) {
                refusal = 400
                return
            }
            switch name.utf8.count {
            case 4 where FieldText.areEqual(name, "Host"):
                hosts += 1
                let host = FieldText.trimmed(value)
                if !FieldText.isHost(host) { refusal = 400 }
                facts.host = host
            case 6 where FieldText.areEqual(name, "Expect"):
                if FieldText.areEqual(FieldText.trimmed(value), "100-continue") {
                    facts.expectsContinue = true
                } else {
                    refusal = 417
                }
            case 10 where FieldText.areEqual(name, "Connection"):
                if FieldText.lists(value, "close") { facts.asksForClose = true }
                if FieldText.lists(value, "keep-alive") { facts.asksForKeepAlive = true }
            case 14 where FieldText.areEqual(name, "Content-Length"):
                lengths += 1
                addLength(FieldText.trimmed(value))
            case 17 where FieldText.areEqual(name, "Transfer-Encoding"):
                encodings += 1
                if FieldText.areEqual(FieldText.trimmed(value), "chunked") {
                    facts.body = .chunked
                } else {
                    refusal = 501
                }
            default: break
            }
        }

        private mutating func addLength(_ digits: String) {
            var length = 0
            if digits.isEmpty { refusal = 400 }
            for digit in digits.utf8 {
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
            facts.body = length == 0 ? .none : .counted(length)
        }

        /// Returns the result for the whole header, after all its fields were added.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - target: The target.
        ///   - isOld: True for HTTP/1.0.
        /// - Returns: The result of all checks.
        func verdict(method: String, target: String, isOld: Bool) -> Verdict {
            if !FieldText.isToken(method) { return .refused(400) }
            // Behind CONNECT begins another protocol, whatever the fields say about a body.
            if method == "CONNECT" { return .refused(501) }
            guard let form = RequestTarget.form(of: target) else { return .refused(400) }
            if form == .asterisk && method != "OPTIONS" { return .refused(400) }
            if let refusal { return .refused(refusal) }
            if lengths + encodings > 1 || hosts > 1 || hosts == 0 && !isOld || isOld && encodings > 0 {
                return .refused(400)
            }
            var facts = facts
            if case .absolute(let authority) = form {
                if !FieldText.isHost(authority) { return .refused(400) }
                facts.host = String(authority)
            }
            if isOld || facts.body == .none { facts.expectsContinue = false }
            return .accepted(facts)
        }

        /// Checks the header of a request.
        static func verdict(on head: HTTPRequestHead, bodyLimit: Int?) -> Verdict {
            var rules = RequestRules(bodyLimit: bodyLimit)
            for (name, value) in head.headers { rules.add(name, value) }
            return rules.verdict(method: head.method.name, target: head.uri, isOld: head.version.minor == 0)
        }
    }

    extension HTTPMethod {
        /// The method as the client has sent it.
        ///
        /// NIOHTTP1 names one of them differently.
        var name: String { self == .MSEARCH ? "M-SEARCH" : rawValue }
    }
#endif

internal import RunLoops

// The errors of the module, each with what belongs to its reason.
extension HTTPClientError {
    static func unsupportedURL(_ url: String) -> Self { Self(.unsupportedURL, details: printable(url)) }
    static func invalidRequest(_ words: String) -> Self { Self(.invalidRequest, details: printable(words)) }
    static func unresolved(_ words: String) -> Self { Self(.unresolved, details: printable(words)) }
    static func notConnected(_ words: String) -> Self { Self(.notConnected, details: printable(words)) }
    static func tlsFailed(_ words: String) -> Self { Self(.tlsFailed, details: printable(words)) }
    static func certificateRejected(_ words: String) -> Self {
        Self(.certificateRejected, details: printable(words))
    }
    static func redirectRefused(_ words: String) -> Self { Self(.redirectRefused, details: printable(words)) }
    static func invalidResponse(_ words: String) -> Self { Self(.invalidResponse, details: printable(words)) }
    static func connectionLost(_ words: String) -> Self { Self(.connectionLost, details: printable(words)) }

    static func timedOut(_ timeout: Timeout) -> Self { Self(.timedOut, Facts(timeout: timeout)) }

    static func tooManyRedirects(limit: Int) -> Self { Self(.tooManyRedirects, Facts(limit: limit)) }
    static func bodyTooLarge(limit: Int) -> Self { Self(.bodyTooLarge, Facts(limit: limit)) }
    static func headerTooLarge(limit: Int) -> Self { Self(.headerTooLarge, Facts(limit: limit)) }
    static func noRoomForHeader(limit: Int) -> Self {
        Self(.headerTooLarge, Facts(details: "the client stores too many bytes of headers", limit: limit))
    }
    static var headerLineTooLong: Self {
        Self(.headerTooLarge, Facts(details: "a line of the header is longer than libcurl takes"))
    }

    static var bodyNotRepeatable: Self { Self(.bodyNotRepeatable) }
    static var wrongBodyLength: Self { Self(.wrongBodyLength) }
    static var cancelled: Self { Self(.cancelled) }
    static var clientInvalidated: Self { Self(.clientInvalidated) }

    static func uploadFailed(_ systemError: SystemError) -> Self {
        Self(.uploadFailed, Facts(systemError: systemError))
    }

    static func other(code: Int, _ words: String) -> Self {
        Self(.other, Facts(details: printable(words), curlCode: code))
    }

    /// Returns a text, which can quote a server, without control characters, and not longer than a line of a log.
    private static func printable(_ words: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in words.unicodeScalars.prefix(lengthLimit) {
            text.append(scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? "?" : scalar)
        }
        if words.unicodeScalars.dropFirst(lengthLimit).first != nil { text.append("…") }
        return String(text)
    }

    private static let lengthLimit = 300
}

internal import HTTPTypes

/// One request of a transfer: the user's, or one that follows a redirect.
struct Hop {
    var url: String
    var method: HTTPRequest.Method
    var fields: HTTPFields
    /// False if a redirect has made the request one without a body.
    var hasBody = true
    /// The number of redirects that were followed.
    var count = 0
    /// The place to which the answer redirects; nil unless its header is complete and redirects.
    var location: String?
    /// The names that libcurl has asked for.
    var names = NameLookUps()
    /// The instant at which the transfer must have ended; nil if there is no limit.
    var deadline: ContinuousClock.Instant?
    /// The time limit that passes first before the request is sent.
    var timeoutBeforeRequest = HTTPClientError.Timeout.connect

    /// The number of bytes of the body that were discarded, because the answer redirects.
    private var discarded = 0
    private static let discardLimit = 64 << 10

    /// The fields that are meant for one origin.
    private static let namesOfOneOrigin =
        [HTTPField.Name.authorization, .cookie, .proxyAuthorization]
        + ["Cookie2", "Host"].compactMap { HTTPField.Name($0) }

    init(_ request: HTTPClient.Request) {
        url = request.url
        method = request.method
        fields = request.headerFields
    }

    /// Counts bytes of the body of an answer that redirects.
    ///
    /// - Returns: False if the rest of the body is not worth receiving.
    mutating func discard(_ count: Int) -> Bool {
        discarded += count
        return discarded <= Hop.discardLimit
    }

    /// True if sending the request twice has the same effect as sending it once.
    var isIdempotent: Bool {
        switch method {
        case .get, .head, .options, .trace, .put, .delete: true
        default: false
        }
    }

    /// Changes the request into the one that follows the redirect; see the Fetch standard, "HTTP-redirect fetch".
    ///
    /// - Parameter status: The status of the answer that redirects.
    /// - Throws: An error if the place is not a URL of http or https, or leads from https to http.
    mutating func follow(_ status: Int) throws(HTTPClientError) {
        guard let location, let old = URLParts(url), let new = URLParts(location, relativeTo: url) else {
            throw .redirectRefused("not a URL: \((location ?? "").prefix(200).debugDescription)")
        }
        if !new.isHTTP && !new.isHTTPS { throw .redirectRefused("not a URL of http or https: \(new.text)") }
        // What was asked for in secret is not answered, nor asked for again, in clear text.
        if old.isHTTPS && !new.isHTTPS { throw .redirectRefused("from https to \(new.text)") }
        if status == 303 && method != .get && method != .head || status < 303 && method == .post {
            method = .get
            hasBody = false
            for name in [HTTPField.Name.contentEncoding, .contentLanguage, .contentLocation, .contentType] {
                fields[name] = nil
            }
        }
        if !new.hasOrigin(of: old) {
            // What is meant for one origin is not sent to another one, nor to a third one later.
            for name in Hop.namesOfOneOrigin { fields[name] = nil }
        }
        url = new.text
        count += 1
        discarded = 0
        self.location = nil
        names = NameLookUps()
    }
}

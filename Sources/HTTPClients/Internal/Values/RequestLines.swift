internal import HTTPTypes

/// The parts of a request that libcurl sends unchanged, checked and formatted for libcurl.
enum RequestLines {
    /// Throws if the URL contains a character that would end it early, such as a line break.
    ///
    /// With such a character, a server would mistake the rest of the text for another part of the request. The types of methods and
    /// fields keep such characters out. This also throws for the fields `Content-Length` and `Transfer-Encoding`, which libcurl sets
    /// according to the body.
    static func check(_ hop: Hop, _ request: HTTPClient.Request) throws(HTTPClientError) {
        // The requests that follow redirects come from one that was checked, and from libcurl's parser of URLs.
        if hop.count > 0 { return }
        // The answer to this method is a tunnel, not an answer.
        if request.method == .connect { throw .invalidRequest("the method CONNECT") }
        if case .stream(let count?) = request.body, count < 0 {
            throw .invalidRequest("a body of \(count) bytes")
        }
        let letters = request.url.utf8.span
        if !letters.indices.allSatisfy({ letters[$0] > 0x20 && letters[$0] != 0x7f }) {
            throw .unsupportedURL(request.url)
        }
        for name in [HTTPField.Name.contentLength, .transferEncoding]
        where request.headerFields.contains(name) {
            throw .invalidRequest("the field \(name), which follows from the body")
        }
    }

    /// True if a URL has the scheme `https`.
    static func isSecure(_ url: String) -> Bool {
        let (letters, scheme) = (url.utf8.span, ("https://" as String).utf8.span)
        return letters.count >= scheme.count
            && scheme.indices.allSatisfy { MessageRules.lowercase(letters[$0]) == scheme[$0] }
    }

    /// Returns the fields of a request as lines for libcurl's list of fields.
    static func lines(of hop: Hop, hasBody: Bool) -> [String] {
        // To libcurl, a name without a value means a field that it must not send, unless the line ends in a semicolon.
        var lines = hop.fields.map {
            $0.value.isEmpty ? "\($0.name.rawName);" : "\($0.name.rawName): \($0.value)"
        }
        // A part of a compressed body cannot be decompressed.
        if hop.fields.contains(.range) && !hop.fields.contains(.acceptEncoding) {
            lines.append("Accept-Encoding: identity")
        }
        // libcurl sends these three as a form, unless their bodies are given piece by piece.
        let isPost = hop.method == .post || !hasBody && (hop.method == .put || hop.method == .patch)
        if !hasBody && !isPost { return lines }
        // Without these lines, libcurl would wait a second for servers that do not know the field `Expect`, and would label each
        // body as a form.
        if !hop.fields.contains(.expect) { lines.append("Expect:") }
        if isPost && !hop.fields.contains(.contentType) { lines.append("Content-Type:") }
        return lines
    }
}

internal import HTTPMessages

/// The parts of a request that libcurl sends unchanged, checked and formatted for libcurl.
enum RequestLines {
    /// Throws if the method, the URL or a field contains a character that would end it early, such as a line break.
    ///
    /// With such a character, a server would mistake the rest of the text for another part of the request. This also throws for the
    /// fields `Content-Length` and `Transfer-Encoding`, which libcurl sets according to the body.
    static func check(_ request: HTTPRequest) throws(HTTPClientError) {
        if !MessageRules.isToken(request.method) {
            throw .invalidRequest("the method \(request.method.debugDescription)")
        }
        let letters = request.url.utf8.span
        if !letters.indices.allSatisfy({ letters[$0] > 0x20 && letters[$0] != 0x7f }) {
            throw .unsupportedURL(request.url)
        }
        for field in request.fields {
            if !MessageRules.isToken(field.name) {
                throw .invalidRequest("a field with the name \(field.name.debugDescription)")
            }
            if !MessageRules.isFieldValue(field.value) {
                throw .invalidRequest("a line break in the field \(field.name)")
            }
            for forbidden in ["Content-Length", "Transfer-Encoding"]
            where HTTPFields.areEqual(field.name, forbidden) {
                throw .invalidRequest("the field \(field.name), which follows from the body")
            }
        }
    }

    /// True if a URL has the scheme `https`.
    static func isSecure(_ url: String) -> Bool {
        let (letters, scheme) = (url.utf8.span, ("https://" as String).utf8.span)
        return letters.count >= scheme.count
            && scheme.indices.allSatisfy { HTTPFields.lowercase(letters[$0]) == scheme[$0] }
    }

    /// Returns the fields of a request as lines for libcurl's list of fields.
    static func lines(of request: HTTPRequest, hasBody: Bool) -> [String] {
        // To libcurl, a name without a value means a field that it must not send, unless the line ends in a semicolon.
        var lines = request.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        let isPost = request.method == "POST"
        if !hasBody && !isPost { return lines }
        // Without these lines, libcurl would wait a second for servers that do not know the field `Expect`, and would label each
        // body as a form.
        if request.fields["Expect"] == nil { lines.append("Expect:") }
        if isPost && request.fields["Content-Type"] == nil { lines.append("Content-Type:") }
        return lines
    }
}

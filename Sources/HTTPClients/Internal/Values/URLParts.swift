internal import CTransfers

/// The parts of a URL that say where a connection goes, as libcurl reads them.
struct URLParts {
    /// The URL, normalized.
    let text: String
    /// The host, without brackets.
    let host: String
    let port: UInt16
    let isHTTP: Bool
    let isHTTPS: Bool

    /// Parses a URL; the result is nil if it is malformed.
    ///
    /// - Parameters:
    ///   - text: The URL, or a reference.
    ///   - base: The URL that a reference is relative to; nil for none.
    init?(_ text: String, relativeTo base: String? = nil) {
        unsafe self.init { url in
            // Safe: C reads the strings during the call.
            guard let base else { return unsafe runloops_url_parse(nil, text, &url) }
            return unsafe runloops_url_parse(base, text, &url)
        }
    }

    /// Parses the URL of a proxy, which may lack its scheme and its port; the result is nil if it is malformed.
    ///
    /// - Parameter text: The URL.
    init?(proxy text: String) {
        // Safe: C reads the string during the call.
        unsafe self.init { url in unsafe runloops_url_parse_proxy(text, &url) }
    }

    private init?(_ parse: (inout runloops_url) -> Bool) {
        var url = unsafe runloops_url()
        guard unsafe parse(&url) else { return nil }
        defer { unsafe runloops_url_free(&url) }
        // Safe: C has set the strings, and this copies them.
        (text, host) = unsafe (String(cString: url.text), String(cString: url.host))
        (isHTTP, isHTTPS) = unsafe (url.is_http, url.is_https)
        guard let port = unsafe UInt16(exactly: url.port) else { return nil }
        self.port = port
    }

    /// True if the scheme, the host and the port are those of another URL.
    func hasOrigin(of other: URLParts) -> Bool {
        func name(_ host: String) -> String {
            (host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host).lowercased()
        }
        return isHTTPS == other.isHTTPS && isHTTP == other.isHTTP && port == other.port
            && name(host) == name(other.host)
    }

    /// Returns bytes as text, in which bytes beyond ASCII are percent-encoded.
    static func ascii(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

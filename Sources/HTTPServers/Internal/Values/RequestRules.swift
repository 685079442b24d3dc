internal import HTTPMessages

/// The rules of HTTP that libmicrohttpd does not check, each of which keeps a request from being taken for two by a proxy.
enum RequestRules {
    /// The status with which a request is refused; nil if it is in order.
    static func refusal(of request: HTTPServer.Request, bodyLimit: Int?) -> Int? {
        if !MessageRules.isToken(request.method) { return 400 }
        var lengths = 0
        var encodings = 0
        var hosts = 0
        for field in request.fields {
            if !MessageRules.isToken(field.name) { return 400 }
            switch field.name.utf8.count {
            case 4 where HTTPFields.areEqual(field.name, "Host"): hosts += 1
            case 14 where HTTPFields.areEqual(field.name, "Content-Length"):
                lengths += 1
                if field.value.isEmpty || !field.value.utf8.allSatisfy(isDigit) { return 400 }
                guard let length = Int(field.value) else { return 413 }
                if let bodyLimit, length > bodyLimit { return 413 }
            case 17 where HTTPFields.areEqual(field.name, "Transfer-Encoding"):
                encodings += 1
                if !HTTPFields.areEqual(field.value, "chunked") { return 501 }
            default: break
            }
        }
        if lengths + encodings > 1 || hosts > 1 || hosts == 0 && request.version != "1.0" { return 400 }
        return nil
    }

    /// True if a body follows the header.
    static func hasBody(_ request: HTTPServer.Request) -> Bool {
        if let length = request.contentLength { return length > 0 }
        return request.fields["Transfer-Encoding"] != nil
    }

    private static func isDigit(_ letter: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(letter)
    }
}

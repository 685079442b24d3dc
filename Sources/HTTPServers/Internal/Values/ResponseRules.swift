#if HTTPServers
    internal import HTTPTypes

    /// The rules that the server checks before it sends a response of the program.
    ///
    /// Names and values of fields need no check: those of HTTPTypes cannot hold what would become another field.
    enum ResponseRules {
        /// The reason that a response must not be sent; nil if the response is valid.
        static func problem(status: Int, fields: HTTPFields) -> String? {
            if !(200...599).contains(status) { return "the status is \(status), not one from 200 to 599" }
            for field in fields where isOwn(field.name) {
                return "the field \(field.name) is the server's own"
            }
            return nil
        }

        private static func isOwn(_ name: HTTPField.Name) -> Bool {
            switch name.canonicalName {
            case "date", "connection", "content-length", "transfer-encoding": true
            default: false
            }
        }

        /// True if a response with this status has no body, whatever the program has written.
        static func forbidsBody(_ status: Int) -> Bool { status == 204 || status == 304 || status < 200 }

        /// Returns the reason phrase of a status, without what would end its line.
        ///
        /// A status that is a literal has none, and gets the one of RFC 9110.
        static func phrase(_ status: HTTPResponse.Status) -> String {
            if status.reasonPhrase.isEmpty { return phrase(status.code) }
            return status.reasonPhrase.utf8.allSatisfy { $0 >= 32 && $0 != 127 } ? status.reasonPhrase : ""
        }

        private static func phrase(_ code: Int) -> String {
            let known: HTTPResponse.Status? =
                switch code {
                case 101: .switchingProtocols
                case 200: .ok
                case 201: .created
                case 202: .accepted
                case 204: .noContent
                case 206: .partialContent
                case 301: .movedPermanently
                case 302: .found
                case 303: .seeOther
                case 304: .notModified
                case 307: .temporaryRedirect
                case 308: .permanentRedirect
                case 400: .badRequest
                case 401: .unauthorized
                case 403: .forbidden
                case 404: .notFound
                case 405: .methodNotAllowed
                case 406: .notAcceptable
                case 408: .requestTimeout
                case 409: .conflict
                case 410: .gone
                case 411: .lengthRequired
                case 412: .preconditionFailed
                case 413: .contentTooLarge
                case 414: .uriTooLong
                case 415: .unsupportedMediaType
                case 416: .rangeNotSatisfiable
                case 417: .expectationFailed
                case 422: .unprocessableContent
                case 426: .upgradeRequired
                case 428: .preconditionRequired
                case 429: .tooManyRequests
                case 431: .requestHeaderFieldsTooLarge
                case 500: .internalServerError
                case 501: .notImplemented
                case 502: .badGateway
                case 503: .serviceUnavailable
                case 504: .gatewayTimeout
                case 505: .httpVersionNotSupported
                default: nil
                }
            return known?.reasonPhrase ?? ""
        }
    }
#endif

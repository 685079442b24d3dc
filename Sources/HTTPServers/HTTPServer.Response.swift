#if HTTPServers
    public import HTTPTypes

    extension HTTPServer {
        /// A response to a request.
        ///
        /// ```swift
        /// var response = HTTPServer.Response.text("Hello, world!")
        /// response.headerFields[.cacheControl] = "no-store"
        /// ```
        ///
        /// The server adds `Date`, `Content-Length` and `Connection`.
        ///
        /// > Thread safety: a value.
        public struct Response: Hashable, Sendable {
            /// The status, from 200 to 599.
            public var status: HTTPResponse.Status

            /// The fields of the header.
            ///
            /// `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are set by the server, and are not allowed here.
            public var headerFields: HTTPFields

            /// The body.
            public var body: [UInt8]

            /// Creates a response.
            ///
            /// - Parameters:
            ///   - status: The status.
            ///   - headerFields: The fields of the header.
            ///   - body: The body.
            public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
                self.status = status
                self.headerFields = headerFields
                self.body = body
            }

            /// Creates a response from HTTPTypes' value of its head.
            ///
            /// - Parameters:
            ///   - head: The status and the fields.
            ///   - body: The body.
            public init(_ head: HTTPResponse, body: [UInt8] = []) {
                self.init(status: head.status, headerFields: head.headerFields, body: body)
            }

            /// Creates a response with a plain text.
            ///
            /// - Parameters:
            ///   - text: The text, which is sent in UTF-8.
            ///   - status: The status.
            /// - Returns: The response.
            public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
                Response(
                    status: status, headerFields: [.contentType: "text/plain; charset=utf-8"],
                    body: Array(text.utf8))
            }

            /// Creates a response with a page.
            ///
            /// - Parameters:
            ///   - page: The page, in HTML, which is sent in UTF-8.
            ///   - status: The status.
            /// - Returns: The response.
            public static func html(_ page: String, status: HTTPResponse.Status = .ok) -> Response {
                Response(
                    status: status, headerFields: [.contentType: "text/html; charset=utf-8"],
                    body: Array(page.utf8))
            }

            /// Creates a response with a JSON text.
            ///
            /// - Parameters:
            ///   - bytes: The text, in UTF-8, as encoders return it.
            ///   - status: The status.
            /// - Returns: The response.
            public static func json(_ bytes: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
                Response(status: status, headerFields: [.contentType: "application/json"], body: bytes)
            }

            /// Creates a response without a body.
            ///
            /// - Parameter status: The status.
            /// - Returns: The response.
            public static func status(_ status: HTTPResponse.Status) -> Response { Response(status: status) }
        }
    }

    extension HTTPServer.Response: CustomStringConvertible {
        /// A description: the status and the size of the body.
        public var description: String { "\(status.code) with \(body.count) bytes" }
    }
#endif

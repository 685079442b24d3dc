#if HTTPServers
    public import HTTPTypes
    internal import RunLoops
    public import Streams

    extension HTTPExchange {
        /// Answers with status 101, and hands the connection over to you, for a protocol other than HTTP.
        ///
        /// Bytes that the client has already sent after its request are delivered as the first bytes of the connection. After the
        /// upgrade, the connection is yours: the limits of the server do not apply to it, and it continues when the server stops. A
        /// connection over TLS stays one.
        ///
        /// If the client has not asked for an upgrade to this protocol, speaks HTTP/1.0, or has not sent its whole request, it gets
        /// status 426.
        ///
        /// - Parameters:
        ///   - name: The name of the protocol, as in the field `Upgrade`.
        ///   - headerFields: Further fields of the header.
        ///   - options: The limits of the connection.
        ///   - handler: Called with the connection, which is not in a loop yet. If the client leaves before the call,
        ///     the handler is not called.
        /// - Returns: True if this answers the request with status 101.
        /// - Precondition: `name` is a name that HTTP allows, such as `websocket`, or a name and a version, such as `IRC/6.9`.
        @discardableResult
        public func upgrade(
            to name: String, headerFields: HTTPFields = [:],
            options: Connection.Options = Connection.Options(),
            onUpgraded handler: @escaping (Connection) -> Void
        ) -> Bool {
            requireOwnThread("HTTPExchange.upgrade")
            if !name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).allSatisfy({
                FieldText.isToken($0)
            }) {
                misuse(
                    "HTTPExchange.upgrade: \(name.debugDescription) is no name of a protocol; pass a name such as \"websocket\""
                )
            }
            guard asksForUpgrade(to: name) else {
                exchange.answer(
                    HTTPServer.Response(status: .upgradeRequired, headerFields: [.upgrade: name]))
                return false
            }
            var fields = headerFields
            fields[.upgrade] = name
            return exchange.answer(Upgrade(options: options, handler: handler), fields)
        }

        private func asksForUpgrade(to name: String) -> Bool {
            func lists(_ field: HTTPField.Name, _ word: String) -> Bool {
                request.headerFields[values: field].contains { FieldText.lists($0, word) }
            }
            return request.version == "1.1" && exchange.isReceived && lists(.connection, "upgrade")
                && lists(.upgrade, name)
        }
    }
#endif

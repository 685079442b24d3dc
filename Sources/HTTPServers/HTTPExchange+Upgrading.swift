public import HTTPMessages
internal import RunLoops
public import Streams

extension HTTPExchange {
    /// Answers with status 101, and hands the connection over to you, for a protocol other than HTTP.
    ///
    /// Bytes that the client has already sent after its request are delivered as the first bytes of the connection. After the
    /// upgrade, the connection is yours: the limits of the server do not apply to it, and it continues when the server stops.
    ///
    /// If the client has not asked for an upgrade to this protocol, or speaks HTTP/1.0, it gets status 426. If it has asked for the
    /// upgrade over TLS, it gets status 501.
    ///
    /// - Parameters:
    ///   - name: The name of the protocol, as in the field `Upgrade`.
    ///   - fields: Further fields of the header.
    ///   - options: The limits of the connection.
    ///   - handler: Called with the connection, which is not in a loop yet. If the client leaves before the call,
    ///     the handler is not called.
    /// - Returns: True if this answers the request with status 101.
    /// - Precondition: `name` is a name that HTTP allows, such as `websocket`, or a name and a version, such as `IRC/6.9`.
    @discardableResult
    public func upgrade(
        to name: String, fields: HTTPFields = [:], options: Connection.Options = Connection.Options(),
        onUpgraded handler: @escaping (Connection) -> Void
    ) -> Bool {
        requireOwnThread("HTTPExchange.upgrade")
        if !name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).allSatisfy({
            MessageRules.isToken(String($0))
        }) {
            misuse(
                "HTTPExchange.upgrade: \(name.debugDescription) is no name of a protocol; pass a name such as \"websocket\""
            )
        }
        guard asksForUpgrade(to: name) else {
            exchange.answer(HTTPServer.Response(status: 426, fields: ["Upgrade": name]))
            return false
        }
        if exchange.isSecure {
            exchange.answer(HTTPServer.Response(status: 501))
            return false
        }
        var all = fields
        all["Upgrade"] = name
        return exchange.answer(.upgrade(all, options, handler))
    }

    /// Completes the WebSocket handshake of RFC 6455, and hands the connection over to you.
    ///
    /// The connection carries WebSocket frames, which your code reads and writes.
    ///
    /// If the request is not a WebSocket handshake, the client gets status 400, or 426 if it asks for a version other than 13.
    ///
    /// Apart from that, this method behaves like ``upgrade(to:fields:options:onUpgraded:)``.
    ///
    /// - Parameters:
    ///   - fields: Further fields of the header, such as `Sec-WebSocket-Protocol`.
    ///   - options: The limits of the connection.
    ///   - handler: Called with the connection, which is not in a loop yet. If the client leaves before the call,
    ///     the handler is not called.
    /// - Returns: True if this answers the request with status 101.
    @discardableResult
    public func upgradeToWebSocket(
        fields: HTTPFields = [:], options: Connection.Options = Connection.Options(),
        onUpgraded handler: @escaping (Connection) -> Void
    ) -> Bool {
        requireOwnThread("HTTPExchange.upgradeToWebSocket")
        guard request.method == "GET", let key = request.fields["Sec-WebSocket-Key"], key.utf8.count == 24
        else {
            exchange.answer(HTTPServer.Response(status: 400))
            return false
        }
        if request.fields["Sec-WebSocket-Version"] != "13" {
            exchange.answer(HTTPServer.Response(status: 426, fields: ["Sec-WebSocket-Version": "13"]))
            return false
        }
        var all = fields
        all["Sec-WebSocket-Accept"] = WebSocketKey.accept(key)
        return upgrade(to: "websocket", fields: all, options: options, onUpgraded: handler)
    }

    private func asksForUpgrade(to name: String) -> Bool {
        func lists(_ field: String, _ word: String) -> Bool {
            request.fields.values(of: field).contains { value in
                value.split(separator: ",").contains {
                    HTTPFields.areEqual(String($0.drop { $0 == " " }.prefix { $0 != " " }), word)
                }
            }
        }
        return request.version == "1.1" && lists("Connection", "upgrade") && lists("Upgrade", name)
    }
}

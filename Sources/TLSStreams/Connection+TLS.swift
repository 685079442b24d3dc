internal import CSecureStreams
public import RunLoops
public import Streams

extension Connection {
    /// Takes over a connection that a listener has accepted, with this side as the TLS server.
    ///
    /// The hand-shake begins when the connection is added to a loop, and must be complete within
    /// ``/Streams/Connection/Options/connectTimeout``. When it is complete, the handler of ``/Streams/Connection/onConnect(_:)`` is
    /// called.
    ///
    /// - Parameters:
    ///   - accepted: The accepted socket.
    ///   - tls: The context with the server's identity and settings. Later changes of the context do not affect this connection.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    public convenience init(
        _ accepted: consuming AcceptedSocket, tls: TLSServerContext, options: Options = Options(),
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        self.init(accepted, options: options, fileID: fileID, line: line)
        insert(TLSFilter(tls.handle))
    }

    /// Takes over a connected stream socket, with this side as the TLS server.
    ///
    /// Apart from the kind of socket, this behaves like ``init(_:tls:options:fileID:line:)-(AcceptedSocket,_,_,_,_)``.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - tls: The context with the server's identity and settings. Later changes of the context do not affect this connection.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if `socket` is not a connected stream socket or is not open. The initializer closes
    ///   `socket` before it throws.
    public convenience init(
        _ socket: consuming OwnedDescriptor, tls: TLSServerContext, options: Options = Options(),
        fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        try self.init(socket, options: options, fileID: fileID, line: line)
        insert(TLSFilter(tls.handle))
    }

    /// Takes over a connected stream socket, with this side as the TLS client.
    ///
    /// - Parameters:
    ///   - socket: The socket, such as one that a proxy has connected.
    ///   - tls: The context with the settings.
    ///   - serverName: The name or numeric address that the server's certificate must have. With a text that no certificate can
    ///     have, such as an empty one or one of more than 255 bytes, the connection ends with ``/Streams/TLSError/Reason/nameMismatch``
    ///     before the hand-shake.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if `socket` is not a connected stream socket or is not open. The initializer closes
    ///   `socket` before it throws.
    public convenience init(
        _ socket: consuming OwnedDescriptor, tls: TLSClientContext, serverName: String,
        options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        try self.init(socket, options: options, fileID: fileID, line: line)
        insert(TLSFilter(tls, serverName))
    }

    /// Creates a connection to an endpoint, with this side as the TLS client.
    ///
    /// Name resolution, the attempts to connect and the hand-shake must all be complete within
    /// ``/Streams/Connection/Options/connectTimeout``. After that, the handler of ``/Streams/Connection/onConnect(_:)`` is called,
    /// and bytes that were written before are sent.
    ///
    /// - Parameters:
    ///   - endpoint: The host and port, path or address to connect to.
    ///   - tls: The context with the settings.
    ///   - serverName: The name or numeric address that the server's certificate must have; nil for the host of the endpoint. If
    ///     the endpoint is a Unix socket, which has no host, nil ends the program with a message. A text that no certificate can
    ///     have ends the connection with ``/Streams/TLSError/Reason/nameMismatch`` before the hand-shake.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    public convenience init(
        connectingTo endpoint: Endpoint, tls: TLSClientContext, serverName: String? = nil,
        options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) {
        guard let name = serverName ?? endpoint.hostName else {
            misuse(
                "Connection.init(connectingTo:): no name for the certificate of the server at \(endpoint); pass a serverName"
            )
        }
        self.init(connectingTo: endpoint, options: options, fileID: fileID, line: line)
        insert(TLSFilter(tls, name))
    }

    /// The results of the TLS hand-shake; nil before the hand-shake is complete, and for connections without TLS.
    ///
    /// The results remain available after the connection has ended.
    public var tls: TLSDetails? { (filter as? TLSFilter)?.details }
}

extension Endpoint {
    /// The host of the endpoint, which a server's certificate must name; nil for Unix sockets.
    fileprivate var hostName: String? {
        switch self {
        case .tcp(let host, _): host
        case .address(let address): address.host
        case .unix, .abstract: nil
        }
    }
}

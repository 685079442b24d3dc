/// What secures the connections that a server accepts, such as the `TLSServerContext` of the product TLSStreams.
///
/// A server that makes its connections itself takes such a value. So only a program that uses TLS needs OpenSSL.
///
/// > Thread safety: any thread.
public protocol ServerSecurity: Sendable {
    /// Makes the layer between one connection and its socket.
    ///
    /// - Returns: The layer.
    func makeLayer() -> SecurityLayer
}

/// The layer that secures the bytes of one connection; only the modules of this package can make one.
///
/// > Thread safety: one thread at a time, and then the thread of the connection.
public struct SecurityLayer {
    package let filter: any StreamFilter

    package init(_ filter: any StreamFilter) { self.filter = filter }
}

@available(*, unavailable)
extension SecurityLayer: Sendable {}

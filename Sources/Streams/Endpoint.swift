/// The place that a connection is made to.
///
/// The name of a host is resolved when the connection is added to a loop, on another thread. The addresses of the host are then
/// tried in the manner of RFC 8305: IPv6 and IPv4 in turn, and each a quarter of a second after the one before it, or as soon
/// as that one has failed. The first that answers is used.
///
/// > Thread safety: a value.
public enum Endpoint: Hashable, Sendable {
    /// A host, by name or numeric address, and a TCP port.
    case tcp(host: String, port: UInt16)
    /// A Unix socket in the file system, by its path of at most 107 bytes.
    case unix(path: String)
    /// An address that is known already.
    case address(SocketAddress)
}

extension Endpoint: CustomStringConvertible {
    /// The host and port, the path, or the address.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        case .address(let address): address.description
        }
    }
}

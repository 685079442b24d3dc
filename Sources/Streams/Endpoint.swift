/// The address that a connection is made to.
///
/// When the connection is added to a loop, the name of a host is resolved on another thread. Numeric addresses need no resolver, nor
/// do `localhost` and the names below it, which are the loopback addresses (RFC 6761). At most 16 addresses of the host
/// are then tried in the manner of RFC 8305. IPv6 and IPv4 addresses alternate, and each attempt begins a quarter of a second
/// after the one before it, or as soon as an attempt fails. The first address that answers is used.
///
/// > Thread safety: a value.
@nonexhaustive
public enum Endpoint: Hashable, Sendable {
    /// A host, by name or numeric address, and a TCP port.
    case tcp(host: String, port: UInt16)
    /// A Unix socket in the file system, by its path of at most 107 bytes.
    case unix(path: String)
    /// A Unix socket outside the file system (an abstract socket), by its name of at most 107 bytes.
    case abstract(name: String)
    /// An address, such as the one of a listener.
    case address(SocketAddress)
}

extension Endpoint: CustomStringConvertible {
    /// The host and port, the path, or the address.
    public var description: String {
        switch self {
        case .tcp(let host, let port):
            host.contains(":") ? "[\(PrintableText(host))]:\(port)" : "\(PrintableText(host)):\(port)"
        case .unix(let path): "\(PrintableText(path))"
        case .abstract(let name): "@\(PrintableText(name))"
        case .address(let address): address.description
        }
    }
}

internal import CRunLoops
internal import Glibc
internal import RunLoops

/// The place at which a listener or a datagram socket is bound.
enum SocketPlace: Hashable, Sendable {
    /// A port of TCP or UDP, on one interface or on all.
    case port(host: String?, port: UInt16)
    case unix(path: String)
    case abstract(name: String)
    case address(SocketAddress)

    /// The path of the file that the socket has; nil if it has none.
    var path: String? {
        switch self {
        case .unix(let path): path
        case .address(let address): address.path
        case .port, .abstract: nil
        }
    }

    /// Opens a socket that is bound at the place.
    ///
    /// - Parameters:
    ///   - peerFamily: The family of the peer to which the socket is then connected; nil if there is none.
    ///   - namelessCode: The code of the error for an abstract socket without a name.
    ///   - open: Opens a socket that is bound to an address.
    /// - Returns: The socket.
    /// - Throws: The error of `open`, or `SystemError` if there is no such address.
    func bound(
        beside peerFamily: CInt? = nil, namelessCode: CInt,
        _ open: (SocketAddress) throws(SystemError) -> OwnedDescriptor
    ) throws(SystemError) -> OwnedDescriptor {
        switch self {
        case .address(let address):
            guard let path = address.path else { return try open(address) }
            return try SocketPlace.unix(path: path).bound(namelessCode: namelessCode, open)
        case .unix(let path):
            guard let address = SocketAddress(path: path) else {
                throw SystemError(call: "bind", code: path.isEmpty ? EINVAL : ENAMETOOLONG)
            }
            return try SocketFile.replacingStale(path, address) { () throws(SystemError) in
                try open(address)
            }
        case .port(let host?, let port):
            guard let address = SocketAddress(host: host, port: port) else {
                throw SystemError(call: "bind", code: EADDRNOTAVAIL)
            }
            return try open(address)
        case .port(nil, let port):
            guard let all = SocketAddress(host: "::", port: port),
                let allOfIPv4 = SocketAddress(host: "0.0.0.0", port: port)
            else { preconditionFailure("the addresses of all interfaces are numeric") }
            if peerFamily == AF_INET { return try open(allOfIPv4) }
            do throws(SystemError) { return try open(all) } catch {
                // On a machine without IPv6, the socket has the IPv4 addresses only.
                guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
                return try open(allOfIPv4)
            }
        case .abstract(let name):
            guard let address = SocketAddress(abstractName: name) else {
                throw SystemError(call: "bind", code: name.isEmpty ? namelessCode : ENAMETOOLONG)
            }
            return try open(address)
        }
    }
}

extension SocketPlace: CustomStringConvertible {
    /// The place as text: the port, after the host if there is one; for a Unix socket, the path or the name.
    var description: String {
        switch self {
        case .port(let host?, let port): "\(Endpoint.tcp(host: host, port: port))"
        case .port(nil, let port): "port \(port)"
        case .unix(let path): "\(PrintableText(path))"
        case .abstract(let name): "@\(PrintableText(name))"
        case .address(let address): "\(address)"
        }
    }
}

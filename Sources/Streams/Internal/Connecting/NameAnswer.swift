internal import CRunLoops
internal import Glibc
package import RunLoops

/// The addresses of a host, in the order in which the resolver prefers them, or the reason that there are none.
package typealias NameAnswer = Result<[SocketAddress], NameFailure>

/// The reason that a host has no addresses.
package enum NameFailure: Error, Hashable, Sendable {
    case unresolved(ResolutionError)
    /// The system has refused something that the look-up needs, such as a thread.
    case failed(SystemError)
    /// There was no answer in time.
    case timedOut

    /// The reason with which a connection ends.
    var endReason: Connection.EndReason {
        switch self {
        case .unresolved(let error): .unresolved(error)
        case .failed(let error): .failed(error)
        case .timedOut: .timedOut(.connect)
        }
    }
}

extension NameResolver {
    /// The maximum number of bytes of a name; DNS has no longer one.
    private static let nameLimit = 255

    /// Returns the answer for a host that need not be looked up; nil if it must be.
    ///
    /// These are numeric addresses, `localhost` and the names below it, which are the loopback addresses whatever a server says
    /// (RFC 6761), and texts that are no names.
    package static func answer(host: String, port: UInt16) -> NameAnswer? {
        if let address = SocketAddress(host: host, port: port) { return .success([address]) }
        if host.utf8.contains(0) {
            return .failure(.failed(SystemError(call: "getaddrinfo", code: EINVAL)))
        }
        if host.isEmpty || host.utf8.count > nameLimit {
            return .failure(.unresolved(ResolutionError(host: host, resolverCode: EAI_NONAME)))
        }
        guard isLocal(host) else { return nil }
        return .success(["::1", "127.0.0.1"].compactMap { SocketAddress(host: $0, port: port) })
    }

    private static func isLocal(_ host: String) -> Bool {
        let name = (host.hasSuffix(".") ? host.dropLast() : Substring(host)).lowercased()
        return name == "localhost" || name.hasSuffix(".localhost")
    }
}

extension ResolutionError {
    /// Makes the error for a code of `getaddrinfo`.
    init(host: String, resolverCode code: CInt) {
        self.init(host: host, code: code, message: unsafe String(cString: runloops_resolve_words(code)))
    }
}

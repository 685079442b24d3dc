internal import DistributedNotifications
internal import Glibc
internal import RunLoops

/// Looks up the names of hosts, each on a separate thread, because a look-up can take long.
enum NameLookup {
    /// Looks up the numeric address of a host.
    ///
    /// - Parameters:
    ///   - host: The name or the numeric address of the host.
    ///   - loop: The loop that calls `answer`.
    ///   - answer: A closure that is called once, with the numeric address, or with an error.
    static func start(
        _ host: String, on loop: RunLoop,
        _ answer: @escaping @Sendable (Result<String, DistributedNotificationError>) -> Void
    ) {
        do {
            try DetachedThread.start(name: "lookup", stackSize: 262_144, blocksSignals: true) {
                let found = find(host)
                loop.performInEveryMode { answer(found) }
            }
        } catch { loop.performInEveryMode { answer(.failure(.system(error))) } }
    }

    private static func find(_ host: String) -> Result<String, DistributedNotificationError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        // Safe, here and below: the system makes the list, which is released below.
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        guard code == 0, let first = unsafe list else {
            return .failure(
                .engine("the host \(host) is not found: \(unsafe String(cString: gai_strerror(code)))"))
        }
        defer { unsafe freeaddrinfo(first) }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = unsafe getnameinfo(
            first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
            NI_NUMERICHOST)
        if result != 0 {
            return .failure(
                .engine("the host \(host) has no number: \(unsafe String(cString: gai_strerror(result)))"))
        }
        return .success(
            String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}

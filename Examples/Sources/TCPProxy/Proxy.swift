import RunLoops
import ServerSupport
import Streams

/// Accepts clients, and makes a tunnel for each client.
///
/// > Thread safety: the thread of the loop.
final class Proxy {
    private let listener: Listener
    private var tunnels: [ObjectIdentifier: Tunnel] = [:]
    private var onEmpty: (() -> Void)?

    /// Listens on the loop of this thread.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - endpoint: The address of the server.
    ///   - limit: The maximum number of clients at a time.
    ///   - options: The limits of the connections.
    ///   - logsEnds: True if the end of each connection is logged, with its reason.
    /// - Throws: An error if the kernel refuses.
    init(
        at address: Listener.Address, to endpoint: Endpoint, limit: Int, options: Connection.Options,
        logsEnds: Bool
    ) throws {
        var listenerOptions = Listener.Options()
        listenerOptions.connectionLimit = limit
        listener = try Listener(address, options: listenerOptions)
        listener.onPause { _, error in log("no clients are accepted for a moment: \(error)") }
        try RunLoop.current.add(listener, forMode: .default) { [unowned self] accepted in
            do {
                let tunnel = try Tunnel(accepted, to: endpoint, options: options, logsEnds: logsEnds) {
                    [unowned self] tunnel in didEnd(tunnel)
                }
                tunnels[ObjectIdentifier(tunnel)] = tunnel
            } catch { log("a client was not served: \(error)") }
        }
    }

    /// The address that clients connect to.
    var address: SocketAddress { listener.localAddress }

    /// Accepts no more clients.
    ///
    /// - Parameter onEmpty: Called after the last tunnel has ended.
    func stop(onEmpty: @escaping () -> Void) {
        self.onEmpty = onEmpty
        listener.invalidate()
        if tunnels.isEmpty { onEmpty() }
    }

    private func didEnd(_ tunnel: Tunnel) {
        tunnels[ObjectIdentifier(tunnel)] = nil
        if tunnels.isEmpty { onEmpty?() }
    }
}

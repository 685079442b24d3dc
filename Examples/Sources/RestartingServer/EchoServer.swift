import RunLoops
import ServerSupport
import Streams

/// Sends each line back, preceded by the number of the process.
///
/// > Thread safety: the thread of the loop.
final class EchoServer {
    private let listener: Listener
    private let greeting = Array("\(ProcessNumber.current): ".utf8)

    /// Accepts clients on the loop of this thread.
    init(_ listener: Listener) throws {
        self.listener = listener
        listener.onPause { _, error in log("no clients are accepted for a moment: \(error)") }
        try RunLoop.current.add(listener, forMode: .default) { [unowned self] accepted in
            do { try serve(accepted) } catch { log("a client was not served: \(error)") }
        }
    }

    /// The address that clients connect to.
    var address: SocketAddress { listener.localAddress }

    /// Opens a second descriptor of the listening socket, for the next server.
    func duplicateSocket() throws -> OwnedDescriptor { try listener.duplicateSocket() }

    /// Accepts no more clients.
    ///
    /// - Parameter onEmpty: Called after all clients have left.
    func stopAccepting(onEmpty: @escaping () -> Void) { listener.stop { _ in onEmpty() } }

    private func serve(_ accepted: consuming AcceptedSocket) throws {
        let client = Connection(accepted)
        client.onFrame(.lines()) { [greeting] client, line in
            client.write(greeting)
            client.write(line)
            client.write("\n")
        }
        try RunLoop.current.add(client, forMode: .default)
    }
}

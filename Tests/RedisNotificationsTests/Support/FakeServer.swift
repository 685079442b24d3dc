import Glibc
import RedisNotifications
import RunLoops
import TestSupport

/// A server on a TCP port that writes the same bytes to each client, whatever the client says.
final class FakeServer: Sendable {
    let port: Int
    private let thread: RunLoopThread
    private let listening: CInt
    private let clients = Log<CInt>()

    init(_ bytes: [UInt8], closes: Bool = false) throws {
        let (socket, port) = try Loopback.listen()
        listening = socket
        self.port = Int(port)
        thread = try RunLoopThread(name: "fake server")
        let clients = self.clients
        try thread.runLoop.performAndWait {
            let source = DescriptorSource(socket, interest: .read) { _, _ in
                let client = accept(socket, nil, nil)
                if client < 0 { return }
                _ = unsafe bytes.withUnsafeBytes {
                    unsafe send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                if closes { close(client) } else { clients.add(client) }
            }
            try RunLoop.current.add(source, forMode: .common)
        }
    }

    deinit {
        thread.stop()
        thread.join()
        for client in clients.entries { close(client) }
        close(listening)
    }
}

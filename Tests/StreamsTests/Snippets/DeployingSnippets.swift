import RunLoops
import Streams
import Testing

/// The code of the article "Deploying".
@Suite struct DeployingSnippets {
    func listen(port: UInt16) throws -> Listener {
        var sockets = try OwnedDescriptor.socketsOfServiceManager()
        if let socket = sockets.takeFirst() { return try Listener(socket) }
        return try Listener(.tcp(port: port))
    }

    @Test func `without a service manager the program listens itself`() throws {
        let listener = try listen(port: 0)
        defer { listener.invalidate() }
        #expect(listener.localAddress.port != 0)
    }
}

import MessagePorts
import RunLoops
import TestSupport

/// A server that a successor replaces while clients come and go.
///
/// The server hands over its listening socket, its half-served connections, and its counter through a port. No client is refused,
/// and no line is lost.
///
/// The only argument is the directory of names. The first server listens. Each later one takes over from its predecessor.
@main struct RestartServer {
    static func main() throws {
        let names = PortNames(directory: CommandLine.arguments[1])
        // Of several new servers, one at a time takes over, so that the name is taken by no other one.
        let turn = try takeTurn(names)
        let server = try Server { try predecessor(names) }
        try server.serve(names)
        turn.invalidate()
        let test = try RemotePort(named: PortName("test"), in: names)
        try test.send(Array("\(server.generation) \(server.port)".utf8))
        RunLoop.current.run()
        tell("served", server.served)
    }

    /// Waits until no other new server is taking over.
    private static func takeTurn(_ names: PortNames) throws -> MessagePort {
        let name = try PortName("restart.next")
        while true {
            do throws(MessagePortError) { return try MessagePort(named: name, in: names) } catch {
                guard error.nameError?.reason == .taken else { throw error }
            }
            // Nobody serves this port, so that the attempt to connect ends when the other server ends its turn.
            do { _ = try RemotePort(named: name, in: names) } catch { continue }
        }
    }

    /// The server that has the name, or nil if there is none.
    private static func predecessor(_ names: PortNames) throws -> RemotePort? {
        do {
            return try RemotePort(named: PortName("restart"), in: names, descriptorLimit: 253)
        } catch {
            let refusal = error as? MessagePortError
            if refusal?.nameError?.reason == .unknown || refusal?.reason == .ended { return nil }
            throw error
        }
    }
}

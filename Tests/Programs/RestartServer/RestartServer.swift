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
        let server = try Server(takingOverFrom: predecessor(names))
        try server.serve(names)
        let test = try RemotePort(named: PortName("test"), in: names)
        try test.send(Array("\(server.generation) \(server.port)".utf8))
        RunLoop.current.run()
        tell("served", server.served)
    }

    /// The server that has the name, or nil if there is none.
    private static func predecessor(_ names: PortNames) throws -> RemotePort? {
        do {
            return try RemotePort(named: PortName("restart"), in: names, mostDescriptors: 253)
        } catch {
            if case MessagePortError.name(.unknown) = error { return nil }
            throw error
        }
    }
}

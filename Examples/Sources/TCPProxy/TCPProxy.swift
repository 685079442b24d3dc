import RunLoops
import ServerSupport
import Streams

/// Forwards TCP connections to another server.
@main struct TCPProxy {
    static let usage = """
        usage: tcp-proxy --to HOST:PORT [--host 127.0.0.1] [--port 7001] [--clients 10000]
                         [--buffer 65536] [--connect-timeout 10] [--write-timeout 30] [--idle-timeout 3600]
                         [--stop-time 10] [--log-ends 0]

          --to             the server, such as example.org:80 or [::1]:80
          --clients        the most clients at a time; others wait until one leaves
          --buffer         bytes that are stored for a side that reads slowly, before the other side has to wait
          --write-timeout  seconds after which a side that reads nothing is disconnected
          --idle-timeout   seconds after which a side that neither reads nor sends is disconnected
          --stop-time      seconds that SIGTERM leaves to the clients
          --log-ends       1 to log the end of each connection, with its reason
        exits with 0 after SIGTERM, and with 1 if clients were left when the time was over
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        var options = Connection.Options()
        options.highWaterMark = arguments.integer("buffer", default: 65_536, in: 1...(1 << 30))
        // While one side is above its high-water mark, the other side is not read, so the output limit is never reached.
        options.outputLimit = 2 << 30
        options.connectTimeout = .seconds(arguments.integer("connect-timeout", default: 10, in: 1...3600))
        options.writeTimeout = .seconds(arguments.integer("write-timeout", default: 30, in: 1...86_400))
        options.idleTimeout = .seconds(arguments.integer("idle-timeout", default: 3600, in: 1...86_400))
        let target = arguments.text("to", default: "")
        guard let endpoint = endpoint(target) else {
            arguments.exitWithUsage("--to \(target): use HOST:PORT")
        }
        let host = arguments.text("host", default: "127.0.0.1")
        let port = arguments.port(default: 7001)
        let clients = arguments.integer("clients", default: 10_000, in: 1...1_000_000)
        let time = arguments.integer("stop-time", default: 10, in: 0...3600)
        let logsEnds = arguments.integer("log-ends", default: 0, in: 0...1) == 1
        arguments.finish()

        raiseDescriptorLimit()
        let proxy = try Proxy(
            at: .tcp(host: host, port: port), to: endpoint, limit: clients, options: options,
            logsEnds: logsEnds)
        try GracefulStop.serving(finishingWithin: .seconds(time)) { stop in
            proxy.stop { stop.finish() }
        }
        announce("listening at \(proxy.address)")
        withExtendedLifetime(proxy) { RunLoop.current.run() }
    }

    /// Parses `HOST:PORT`, with brackets around an IPv6 address.
    private static func endpoint(_ text: String) -> Endpoint? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : .tcp(host: String(host), port: port)
    }
}

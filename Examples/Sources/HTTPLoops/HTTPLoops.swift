import RunLoops
import ServerSupport

/// An HTTP server on several loops, which share a port.
///
/// Each answer names the loop, and counts the requests of all loops.
@main struct HTTPLoops {
    static let usage = """
        usage: http-loops [--host 127.0.0.1] [--port 7006] [--loops 2] [--stop-time 30]

          --loops      threads with a loop and a server each
          --stop-time  seconds that requests have to end, after SIGTERM
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        let host = arguments.text("host", default: "127.0.0.1")
        var port = arguments.port(default: 7006)
        let loops = arguments.integer("loops", default: 2, in: 1...64)
        let time = Duration.seconds(arguments.integer("stop-time", default: 30, in: 0...3600))
        arguments.finish()
        raiseDescriptorLimit()

        let group = try RunLoopThreadGroup(count: loops, name: "server")
        let counter = Counter()
        let sites = group.threads.enumerated().map { Site(on: $1.runLoop, number: $0, counter) }
        for site in sites {
            // With port 0, the first server gets a free port, which the others share.
            port = try site.runLoop.performAndWait { [port] in
                try site.assumeIsolated { try $0.serve(host, port) }
            }
        }
        try GracefulStop.serving(finishingWithin: time) { stop in
            var open = sites.count
            let ends = Port<Int>()
            RunLoop.current.add(ends, forMode: .default) { number in
                log("server \(number) has ended")
                open -= 1
                if open == 0 { stop.finish() }
            }
            for site in sites { site.perform { $0.stop(within: time, reportingTo: ends) } }
        }
        announce("listening at \(host):\(port)")
        RunLoop.current.run()
    }
}

import Glibc
import RunLoops
import ServerSupport

/// Downloads a list of URLs in parallel, on the loop of a worker.
@main struct Fetcher {
    static let usage = """
        usage: fetcher --list URL,URL,... [--parallel 6]

          --list      the URLs, with commas between them
          --parallel  the most connections to one host
        exits with 0 if all were downloaded, and with 1 otherwise
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        let urls = arguments.text("list", default: "").split(separator: ",").map(String.init)
        let parallel = arguments.integer("parallel", default: 6, in: 1...1000)
        arguments.finish()
        if urls.isEmpty { arguments.exitWithUsage("--list is empty") }

        let worker = try RunLoopThread(name: "fetcher")
        // The main thread waits for the worker. It could also serve its own loop in the meantime.
        let failed = try worker.runLoop.performAndWait {
            let download = try Download(parallel: parallel) { line in announce(line) }
            download.run(urls)
            return download.failed
        }
        worker.stop()
        worker.join()
        if failed > 0 { exit(1) }
    }
}

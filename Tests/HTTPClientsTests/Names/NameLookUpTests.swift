import CFaults
import Glibc
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Streams

/// The names of hosts and proxies, which the package's own resolver looks up.
@Suite(.serialized) struct NameLookUpTests {
    @Test func `a numeric address and localhost need no thread`() throws {
        try withServer { client, server in
            for host in [
                "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "2130706433", "[::ffff:127.0.0.1]",
            ] {
                let outcome = client.fetch("http://\(host):\(server.port)/")
                #expect(outcome.error == nil, "\(host): \(outcome.error.map { "\($0)" } ?? "")")
            }
            #expect(faults_held_names() == 0)
        }
    }

    @Test func `names are looked up for a client in the common modes, too`() throws {
        let server = try Server { try $0.answer() }
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .common, options: .local())
            for host in ["a.found.test", "localhost", "127.0.0.1"] {
                let (_, outcome) = client.record(HTTPClient.Request("http://\(host):\(server.port)/"))
                loop.run(in: .default, until: "it has ended") { outcome.hasEnded }
                #expect(outcome.error == nil && outcome.text == "Hello, world!")
            }
            let (_, unknown) = client.record(HTTPClient.Request("http://a.invalid/"))
            loop.run(in: .default, until: "it has ended") { unknown.hasEnded }
            #expect(unknown.error != nil)
            client.invalidate()
        }
        server.stop()
    }

    @Test func `a name that nobody knows is an error that says so`() throws {
        try withServer { client, server in
            for url in ["http://name.invalid:\(server.port)/", "http://name.invalid.:\(server.port)/"] {
                guard let error = client.fetch(url).error, error.reason == .unresolved else {
                    Issue.record("\(url)")
                    return
                }
                #expect(error.details.contains("name.invalid"))
            }
        }
    }

    @Test func `names of a host and of a proxy are looked up, and asked for again only when needed`() throws {
        try withServer(options: .local { $0.versions = .http1 }) { client, server in
            for number in 0..<3 {
                let outcome = client.fetch("http://a.found.test:\(server.port)/\(number)")
                #expect(outcome.error == nil && outcome.text == "Hello, world!")
            }
            #expect(server.connections.count == 1)
        }
        for form in ["http://PROXY", "PROXY"] {
            let server = try Server { try $0.answer("200 OK", "", Array($0.path.utf8)) }
            let proxy = form.replacing("PROXY", with: "proxy.found.test:\(server.port)")
            try onLoopThread { loop in
                let client = try HTTPClient(mode: .network, options: .local { $0.proxy = .url(proxy) })
                // The proxy resolves the name of the host.
                #expect(client.fetch("http://b.invalid/x").text == "http://b.invalid/x")
                client.invalidate()
            }
            server.stop()
        }
    }

    @Test func `the proxy that the environment names is looked up`() async {
        await #expect(processExitsWith: .success) {
            let server = try Server { try $0.answer("200 OK", "", Array($0.path.utf8)) }
            unsafe setenv("http_proxy", "http://proxy.found.test:\(server.port)", 1)
            unsafe setenv("no_proxy", "direct.found.test", 1)
            try onLoopThread { loop in
                let client = try HTTPClient(mode: .network)
                #expect(client.fetch("http://b.invalid/x").text == "http://b.invalid/x")
                #expect(client.fetch("http://direct.found.test:\(server.port)/y").text == "/y")
                client.invalidate()
            }
        }
    }

    private static func threadCount() -> Int {
        var count = 0
        guard let directory = unsafe opendir("/proc/self/task") else { return 0 }
        while unsafe readdir(directory) != nil { count += 1 }
        unsafe closedir(directory)
        return count
    }

    // Guarantees: However many names are never answered, few threads look them up, and numeric addresses and `localhost` need none.
    @Test func `names that are never answered take few threads, and others are answered meanwhile`() async {
        await #expect(processExitsWith: .success) {
            let server = try Server { try $0.answer() }
            try onLoopThread { loop in
                let client = try HTTPClient(
                    mode: .network, options: .local { $0.connectTimeout = .milliseconds(500) })
                let before = NameLookUpTests.threadCount()
                var (ended, most) = (0, 0)
                for number in 0..<800 {
                    client.start(HTTPClient.Request("http://n\(number).held.test:\(server.port)/")) {
                        transfer in
                        transfer.onEnd { _, error in
                            ended += 1
                            #expect(error?.timeout == .connect)
                            most = max(most, NameLookUpTests.threadCount())
                        }
                    }
                }
                for host in ["127.0.0.1", "localhost"] {
                    #expect(client.fetch("http://\(host):\(server.port)/").text == "Hello, world!")
                }
                loop.run(in: .network, until: "all have ended") { ended == 800 }
                // The resolver's threads, and those of the server.
                #expect(most - before <= NameResolver.threadLimit + 6)
                client.invalidate()
            }
            TrapTests.releaseNames()
        }
    }

    @Test func `a cancelled transfer gives its look-up up`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let client = try HTTPClient(mode: .network, options: .local())
                let transfers = (0..<4).map {
                    client.record(HTTPClient.Request("http://c\($0).held.test/")).0
                }
                loop.run(in: .network, until: "they are looked up") { faults_held_names() == 4 }
                #expect(NameResolver.shared.threadCounts.abandoned == 0)
                for transfer in transfers { transfer.cancel() }
                #expect(NameResolver.shared.threadCounts.abandoned == 4)
                let (_, outcome) = client.record(HTTPClient.Request("http://d.held.test/"))
                loop.run(in: .network, until: "it is looked up") { faults_held_names() == 5 }
                client.invalidate()
                #expect(
                    outcome.error?.reason == .clientInvalidated
                        && NameResolver.shared.threadCounts.abandoned == 5)
            }
            TrapTests.releaseNames()
        }
    }
}

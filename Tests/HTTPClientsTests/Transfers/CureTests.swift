import CFaults
import Glibc
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Streams

/// The options that avoid traps of libcurl: each trap occurs without its option, and not with it.
@Suite(.serialized) struct CureTests {
    private enum Cure: CInt {
        /// `CURLOPT_NOSIGNAL`.
        case noSignal = 99
        /// `CURLOPT_RESOLVER_START_FUNCTION`.
        case resolverStart = 20_272
        /// `CURLOPT_PREREQFUNCTION`.
        case request = 20_312
    }

    /// Returns the number of the resolver's threads while a name is looked up.
    private static func resolverThreads() throws -> Int {
        let count = Shared()
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: .local())
            let (transfer, _) = client.record(HTTPClient.Request("http://cure.held.test/"))
            loop.run(in: .network, until: "the name is looked up") { faults_held_names() > 0 }
            for _ in 0..<NameResolver.shared.threadCounts.all { count.increment() }
            // A thread of libcurl would make the cancel wait.
            if count.count == 0 { faults_release_names() }
            transfer.cancel()
            client.invalidate()
        }
        TrapTests.releaseNames()
        return count.count
    }

    @Test func `without its cure, libcurl resolves a name on a thread of its own`() async {
        await #expect(processExitsWith: .success) {
            faults_withhold_option(Cure.resolverStart.rawValue)
            let without = try CureTests.resolverThreads()
            faults_withhold_option(0)
            let with = try CureTests.resolverThreads()
            #expect(without == 0 && with == 1)
        }
    }

    /// Returns the number of POST requests that a server gets that closes a connection at its second request.
    private static func posts() throws -> Int {
        let count = Shared()
        try withServer({ exchange in
            if exchange.number > 1 { return exchange.close() }
            try exchange.answer()
        }) { client, server in
            #expect(client.fetch(server.url("/")).error == nil)
            _ = client.fetch(HTTPClient.Request(server.url("/"), method: "POST"))
            for _ in server.requests.entries.dropFirst() { count.increment() }
        }
        return count.count
    }

    // Guarantees: A request is sent again only if its method allows that, however its connection ends.
    @Test func `without its cure, libcurl sends a request again that is not idempotent`() async {
        await #expect(processExitsWith: .success) {
            faults_withhold_option(Cure.request.rawValue)
            let without = try CureTests.posts()
            faults_withhold_option(0)
            let with = try CureTests.posts()
            #expect(without == 2 && with == 1)
        }
    }

    /// True if libcurl changes the disposition of SIGPIPE during a request.
    private static func changesDisposition() throws -> Bool {
        let changes = Shared()
        try withServer { client, server in
            let before = faults_pipe_dispositions()
            #expect(client.fetch(server.url("/")).error == nil)
            if faults_pipe_dispositions() > before { changes.increment() }
        }
        return changes.count > 0
    }

    @Test func `without its cure, libcurl changes the disposition of SIGPIPE`() async {
        await #expect(processExitsWith: .success) {
            faults_withhold_option(Cure.noSignal.rawValue)
            let without = try CureTests.changesDisposition()
            faults_withhold_option(0)
            let with = try CureTests.changesDisposition()
            #expect(without && !with)
        }
    }
}

import CFaults
import Glibc
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The options that avoid traps of libcurl: each trap occurs without its option, and not with it.
@Suite(.serialized) struct CureTests {
    private enum Cure: CInt {
        /// `CURLOPT_NOSIGNAL`.
        case noSignal = 99
        /// `CURLOPT_QUICK_EXIT`.
        case quickExit = 322
    }

    /// True if a cancel waits for a name that is being resolved.
    private static func cancelWaits() throws -> Bool {
        let hasCancelled = Gate()
        let wasLate = Shared()
        let isReleased = Gate()
        try RunLoopThread.detach(name: "releasing") { _ in
            // A cancel that does not wait takes less than a millisecond.
            if !hasCancelled.wait(seconds: 2) { wasLate.increment() }
            faults_release_names()
            isReleased.open()
        }
        try onLoopThread { loop in
            let client = try HTTPClient(loop: loop, mode: .network, options: .local())
            let (transfer, _) = client.record(HTTPRequest("http://cure.held.test/"))
            loop.run(in: .network, until: "the name is looked up") { faults_held_names() > 0 }
            transfer.cancel()
            hasCancelled.open()
            client.invalidate()
        }
        #expect(isReleased.wait())
        waitUntil("the name is not looked up any more") { faults_held_names() == 0 }
        return wasLate.count > 0
    }

    @Test func `without its cure, a cancel waits for a name that is being resolved`() async {
        await #expect(processExitsWith: .success) {
            faults_withhold_option(Cure.quickExit.rawValue)
            let without = try CureTests.cancelWaits()
            faults_withhold_option(0)
            let with = try CureTests.cancelWaits()
            #expect(without && !with)
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

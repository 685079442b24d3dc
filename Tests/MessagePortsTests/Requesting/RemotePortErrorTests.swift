import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Errors of ports between processes name what they are about.
@Suite struct RemotePortErrorTests {
    @Test func `a remote port's error names it, and where it was made`() async throws {
        let server = try PortServer { _ in }
        let remote = try RemotePort(
            named: server.name, in: server.names.names, before: .hang, fileID: "Shop/Orders.swift", line: 12)
        let place = "remote port \"\(server.name)\" made at Shop/Orders.swift:12: "
        let unused = await #expect(throws: MessagePortError.noReply) {
            _ = try await remote.request(before: .hang)
        }
        #expect(unused.map { "\($0)" } == place + "the request was dropped without a reply")
        remote.invalidate()
        let ended = refusal { () throws(MessagePortError) in try remote.send() }
        #expect(ended.map { "\($0)" } == place + "the port has ended, or the connection to it")
    }
}

import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Errors of ports between processes name the port and the place in the source where it was made.
@Suite struct RemotePortErrorTests {
    @Test func `a remote port's error names the port and the place where it was made`() async throws {
        let server = try PortServer { _ in }
        let remote = try RemotePort(
            named: server.name, in: server.names.names, before: .hang, fileID: "Shop/Orders.swift", line: 12)
        let place = "remote port \"\(server.name)\" made at Shop/Orders.swift:12: "
        let unused = await #expect(throws: MessagePortError.noReply) {
            _ = try await remote.request(before: .hang)
        }
        #expect(unused.map { "\($0)" } == place + "the right to reply to the request was released unused")
        let large = refusal { () throws(MessagePortError) in
            try remote.send([UInt8](repeating: 0, count: 65_537))
        }
        #expect(large.map { "\($0)" } == place + "the message is longer than 65536 bytes")
        let many = refusal { () throws(MessagePortError) in
            try remote.send(descriptors: [CInt](repeating: 0, count: 33))
        }
        #expect(many.map { "\($0)" } == place + "the message carries more than 32 descriptors")
        remote.invalidate()
        let ended = refusal { () throws(MessagePortError) in try remote.send() }
        #expect(ended.map { "\($0)" } == place + "the port has ended, or the connection to it")
    }
}

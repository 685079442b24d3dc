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
        let unused = await #expect(throws: MessagePortError(.noReply)) {
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

    @Test func `the reason of an error is caught, compared and switched over, with what belongs to it`()
        throws
    {
        let names = try OwnNames()
        let name = try PortName("nobody")
        func connect(_ name: PortName) throws {
            _ = try RemotePort(named: name, in: names.names, before: .hang)
        }
        do { try connect(name) } catch MessagePortError.Reason.notAdmitted {
            Issue.record("nobody has refused")
        } catch MessagePortError.Reason.name {}
        let error = #expect(throws: MessagePortError.self) { try connect(name) }
        #expect(error?.nameError?.reason == .unknown && error?.nameError?.name == "nobody")
        #expect(error?.limit == nil && error?.systemError == nil)
        func make(_ text: String) throws { _ = try PortName(text) }
        do { try make("a/b") } catch PortNameError.Reason.malformed {}
        switch MessagePortError(.ended).reason {
        case .timedOut, .noReply: Issue.record("the reason is another one")
        case .ended: break
        default: Issue.record("the reason is not told")
        }
        #expect(MessagePortError(.ended).about("a port") == MessagePortError(.ended))
    }
}

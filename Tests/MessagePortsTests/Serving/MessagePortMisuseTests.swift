import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Misuse ends the program with a message that says what to do instead.
@Suite struct MessagePortMisuseTests {
    @Test func `a reply to a message that is not a request`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer { message in
                do { try message.reply() } catch { Issue.record(error) }
            }
            try server.connect().send()
            #expect(Gate().wait(seconds: 30))
        }
        #expect(
            result?.message.contains(
                "MessagePort.Message.reply: the message is not a request, or its right to reply was taken; check isRequest first, and take the right once"
            ) == true)
    }

    @Test func `a port in two loops`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer()
            try onLoopThread { loop in try loop.add(server.port, forMode: .default) { _ = $0.id } }
        }
        #expect(result?.message.contains("is in another loop; remove it there first") == true)
    }

    @Test func `a port that is added from another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer(nil, nil)
            try server.thread.runLoop.add(server.port, forMode: .default) { _ = $0.id }
        }
        #expect(
            result?.message.contains(
                "RunLoop.add(port): called outside the loop's own thread (run loop \"server\"); perform a block on the loop and add the port there"
            ) == true)
    }

    @Test func `onPeerEnd on the wrong thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer()
            server.port.onPeerEnd { _, _ in }
        }
        #expect(result?.message.contains("MessagePort.onPeerEnd: the port made at") == true)
        #expect(
            result?.message.contains("add it to the loop first, and call this on the loop's thread") == true)
    }

    @Test(arguments: [
        "messageByteLimit", "descriptorLimit", "connectionLimit", "connectionLimitPerProcess",
        "connectionLimitPerUser", "greetingTimeout",
        "keptReplyByteLimit", "keptMessageLimit", "keptMessageByteLimit",
    ])
    func `limits that make no sense`(limit: String) async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [limit] in
            var limits = MessagePort.Options()
            switch limit {
            case "messageByteLimit": limits.messageByteLimit = -1
            case "descriptorLimit": limits.descriptorLimit = 254
            case "connectionLimit": limits.connectionLimit = 0
            case "connectionLimitPerProcess": limits.connectionLimitPerProcess = 0
            case "connectionLimitPerUser": limits.connectionLimitPerUser = 0
            case "greetingTimeout": limits.greetingTimeout = .zero
            case "keptReplyByteLimit": limits.keptReplyByteLimit = -1
            case "keptMessageLimit": limits.keptMessageLimit = 0
            default: limits.keptMessageByteLimit = -1
            }
            _ = try PortServer(limits: limits)
        }
        #expect(result?.message.contains("MessagePort.Options.\(limit): ") == true)
    }

    @Test func `a reply of no size`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer()
            _ = try RemotePort(named: server.name, in: server.names.names, messageByteLimit: -1)
        }
        #expect(
            result?.message.contains(
                "RemotePort.init(named:): -1 is not the size of a message; use 0 to 2147483647")
                == true
        )
    }

    @Test func `a reply with more descriptors than a packet carries`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer()
            _ = try RemotePort(named: server.name, in: server.names.names, descriptorLimit: 254)
        }
        #expect(
            result?.message.contains(
                "RemotePort.init(named:): a message cannot carry 254 descriptors; use 0 to 253") == true)
    }

    @Test func `a remote port of threads on a loop`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer()
            let remote = try server.connect()
            try onLoopThread { loop in try loop.add(remote, forMode: .default) { _ = $0.id } }
        }
        #expect(
            result?.message.contains(
                "is read by the threads that send requests; make it with RemotePort(connectingTo:) to have a loop read it"
            ) == true)
    }

    @Test func `a remote port in two loops`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let server = try PortServer()
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            try server.onThread { loop in try loop.add(remote, forMode: .common) { _ = $0.id } }
            try onLoopThread { loop in try loop.add(remote, forMode: .default) { _ = $0.id } }
        }
        #expect(result?.message.contains("RunLoop.add(remote port): the port made at") == true)
        #expect(result?.message.contains("is in another loop; remove it there first") == true)
    }

    @Test(arguments: ["onConnect", "onRoom", "onEnd"])
    func `a handler of a remote port that is in no loop`(member: String) async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [member] in
            let server = try PortServer()
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            switch member {
            case "onConnect": remote.onConnect { _ in }
            case "onRoom": remote.onRoom { _ in }
            default: remote.onEnd { _, _ in }
            }
        }
        #expect(result?.message.contains("RemotePort.\(member): the port made at") == true)
        #expect(
            result?.message.contains("add it to the loop first, and call this on the loop's thread") == true)
    }
}

import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A forked child does not harm its parent's ports.
@Suite struct MessagePortForkTests {
    @Test func `a forked child that releases ports leaves them to its parent`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { _ in
                let server = try PortServer { message in
                    do { try message.reply() } catch { Issue.record(error) }
                }
                var remote: RemotePort? = try server.connect()
                try remote?.addInvalidationHandler { Issue.record("it has not ended") }
                var other: MessagePort? = try MessagePort(named: PortName("other"), in: server.names.names)
                let child = Child {
                    remote = nil
                    other = nil
                    return 0
                }
                #expect(child.wait() == .exited(0))
                _ = try remote?.request(before: .hang)
                #expect(remote?.isValid == true && other?.isValid == true)
                #expect(throws: MessagePortError.self) {
                    _ = try MessagePort(named: PortName("other"), in: server.names.names)
                }
            }
        }
    }

    @Test(arguments: ["send", "request", "connect"])
    func `a forked child that uses a port ends with a message that says how to fix that`(use: String) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [use] in
            try onLoopThread { _ in
                let server = try PortServer()
                let remote = try server.connect()
                let child = Child {
                    do {
                        switch use {
                        case "send": try remote.send()
                        case "request": _ = try remote.request()
                        default: _ = try server.connect()
                        }
                    } catch {}
                    return 0
                }
                let ending = child.wait()
                guard case .killed = ending else {
                    Issue.record("the child goes on: \(ending)")
                    return
                }
            }
        }
        #expect(result?.message.contains("used in a forked child, where no loop works") == true)
    }

    @Test func `a forked child of a process that has a port and no loop gets the message, too`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let names = try OwnNames()
            let port = try MessagePort(named: PortName("alone"), in: names.names)
            expectKilled(
                Child {
                    do { _ = try MessagePort(named: PortName("second"), in: names.names) } catch {}
                    return 0
                })
            port.invalidate()
        }
        #expect(result?.message.contains("MessagePort: used in a forked child") == true)
    }

    @Test func `a forked child of a process that only sends gets the message, too`() async throws {
        let server = try PortServer()
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [directory = server.names.directory as String] in
            let remote = try RemotePort(
                named: PortName("test"), in: PortNames(directory: directory), before: .hang)
            expectKilled(
                Child {
                    do { try remote.send() } catch {}
                    return 0
                })
        }
        withExtendedLifetime(server) {}
        #expect(result?.message.contains("RemotePort.send: used in a forked child") == true)
    }
}

/// Expects that a signal has ended the child.
private func expectKilled(_ child: Child) {
    let ending = child.wait()
    guard case .killed = ending else {
        Issue.record("the child goes on: \(ending)")
        return
    }
}

import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Waits for ports of the same process that would deadlock.
@Suite struct MessagePortDeadlockTests {
    // Guarantees: A thread that serves a port cannot block on it: the wait fails with ``MessagePortError/Reason/wouldDeadlock``.
    @Test func `a thread that serves a port does not block on it`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("own"), in: names.names)
            try loop.add(port, forMode: .default) { _ = $0.id }
            #expect(throws: MessagePortError(.wouldDeadlock)) {
                _ = try RemotePort(named: PortName("own"), in: names.names)
            }
            let connecting = try Threads(1) { _ in
                let remote = try RemotePort(named: PortName("own"), in: names.names, before: .hang)
                loop.perform {
                    #expect(throws: MessagePortError(.wouldDeadlock)) { _ = try remote.request() }
                    #expect(throws: MessagePortError(.wouldDeadlock)) {
                        while true { try remote.send([UInt8](repeating: 0, count: 10_000)) }
                    }
                    // With a deadline that has passed, the request is tried once, and does not block.
                    #expect(throws: MessagePortError(.timedOut)) {
                        _ = try remote.request(before: .distantPast)
                    }
                    loop.stop()
                }
            }
            loop.run()
            try connecting.join()
        }
    }

    @Test func `of two threads that send requests to each other, the second fails`() throws {
        let names = try OwnNames()
        let first = try PortServer(names, nil)
        let second = try RunLoopThread(name: "second")
        defer { second.stop() }
        let asked = Gate()
        try first.serve { message in
            asked.open()
            // The requester waits for this thread, so this thread must not wait for the requester.
            #expect(throws: PerformError.self) { try second.runLoop.performAndWait {} }
            do { try message.reply() } catch { Issue.record(error) }
        }
        try second.runLoop.performAndWait {
            let remote = try first.connect()
            _ = try remote.request(before: .hang)
        }
        #expect(asked.wait())
    }
}

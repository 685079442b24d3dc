import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Any thread can end a port between processes, and remove one from a mode.
@Suite struct EndsElsewhereTests {
    /// The loop of a thread, which a test stops between two passes.
    private final class Held: Sendable {
        private let goOn = Gate()

        init(_ loop: RunLoop) {
            let isHeld = Gate()
            loop.perform { [goOn] in
                isHeld.open()
                _ = goOn.wait()
            }
            _ = isHeld.wait()
        }

        func letGo() { goOn.open() }
    }

    /// Makes two passes of a loop.
    private func pass(_ loop: RunLoop) throws {
        try loop.performAndWait {}
        try loop.performAndWait {}
    }

    // Guarantees: After an end on any thread has returned, no call of the object's handlers begins, except the report of the end.
    @Test
    func `after an end of a port elsewhere, no call begins, and the loop's thread releases the handler`()
        throws
    {
        for _ in 0..<20 {
            let (calls, releases, loops) = (Shared(), Log<Bool>(), Log<RunLoop>())
            let server = try PortServer(nil, nil)
            let loop = server.thread.runLoop
            loops.add(loop)
            try loop.performAndWait {
                let parting = Parting { releases.add(loops.entries[0].isCurrent) }
                try RunLoop.current.add(server.port, forMode: .common) { _ in
                    parting.hold()
                    calls.increment()
                }
            }
            let remote = try server.connect()
            let held = Held(loop)
            for _ in 0..<5 { try remote.send() }
            try BareThread { server.port.invalidate() }.join()
            #expect(!server.port.isValid)
            let before = calls.count
            held.letGo()
            waitUntil("the handler is released") { releases.entries.count == 1 }
            try pass(loop)
            #expect(releases.entries == [true])
            #expect(calls.count == before)
        }
    }

    @Test func `an end elsewhere in a handler of the port makes that call the last one`() throws {
        let calls = Shared()
        let ports = Log<MessagePort>()
        let server = try PortServer { _ in
            calls.increment()
            do { try BareThread { ports.entries[0].invalidate() }.join() } catch { Issue.record(error) }
        }
        ports.add(server.port)
        let remote = try server.connect()
        let held = Held(server.thread.runLoop)
        for _ in 0..<5 { try remote.send() }
        held.letGo()
        waitUntil("the port has ended") { !server.port.isValid }
        try pass(server.thread.runLoop)
        #expect(calls.count == 1)
    }

    // Guarantees: After a removal on any thread has returned, no call of the object's handlers begins in that mode.
    @Test func `a port that another thread removes delivers no message in that mode, and the rest later`()
        throws
    {
        let calls = Shared()
        let server = try PortServer { _ in calls.increment() }
        let loop = server.thread.runLoop
        let remote = try server.connect()
        for round in 0..<20 {
            let held = Held(loop)
            for _ in 0..<5 { try remote.send() }
            let before = calls.count
            try BareThread { loop.remove(server.port, forMode: .common) }.join()
            held.letGo()
            try pass(loop)
            #expect(calls.count == before)
            try server.serve { _ in calls.increment() }
            waitUntil("the messages came") { calls.count == 5 * (round + 1) }
        }
    }

    @Test func `a handler that has another thread remove the port gets no further message in that mode`()
        throws
    {
        let calls = Shared()
        let servers = Log<PortServer>()
        let server = try PortServer { _ in
            calls.increment()
            let server = servers.entries[0]
            let loop = server.thread.runLoop
            do { try BareThread { loop.remove(server.port, forMode: .common) }.join() } catch {
                Issue.record(error)
            }
        }
        servers.add(server)
        let remote = try server.connect()
        let held = Held(server.thread.runLoop)
        for _ in 0..<5 { try remote.send() }
        held.letGo()
        waitUntil("a message came") { calls.count == 1 }
        try pass(server.thread.runLoop)
        #expect(calls.count == 1)
        servers.removeAll()
    }

    // Guarantees: After an end on any thread has returned, no call of the object's handlers begins, except the report of the end.
    @Test func `after an end of a remote port elsewhere, only the report of the end comes`() throws {
        for _ in 0..<20 {
            let (calls, ends, releases) = (Shared(), Shared(), Log<Bool>())
            let server = try PortServer { message in
                do { try message.reply() } catch {}
            }
            let thread = try RunLoopThread(name: "reader")
            let loop = thread.runLoop
            let remote = try loop.performAndWait {
                let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
                let parting = Parting { releases.add(loop.isCurrent) }
                try RunLoop.current.add(remote, forMode: .common) { _ in
                    parting.hold()
                    calls.increment()
                }
                remote.onRoom { _ in calls.increment() }
                remote.onConnect { _ in calls.increment() }
                remote.onEnd { _, _ in ends.increment() }
                return remote
            }
            let held = Held(loop)
            let before = calls.count
            try BareThread { remote.invalidate() }.join()
            #expect(!remote.isValid)
            held.letGo()
            waitUntil("the end is reported") { ends.count == 1 && releases.entries.count == 1 }
            try pass(loop)
            #expect((calls.count, ends.count) == (before, 1))
            #expect(releases.entries == [true])
            thread.stop()
            thread.join()
        }
    }

    @Test func `a remote port that another thread removes reports nothing until it is added again`() throws {
        let server = try PortServer()
        let thread = try RunLoopThread(name: "reader")
        let loop = thread.runLoop
        let (connections, ends) = (Shared(), Shared())
        let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
        let add: @Sendable () throws -> Void = {
            try RunLoop.current.add(remote, forMode: .common) { _ in }
            remote.onConnect { _ in connections.increment() }
            remote.onEnd { _, _ in ends.increment() }
        }
        let held = Held(loop)
        loop.perform { do { try add() } catch { Issue.record(error) } }
        let second = Gate()
        let isAdded = Gate()
        loop.perform {
            isAdded.open()
            _ = second.wait()
        }
        held.letGo()
        #expect(isAdded.wait())
        try BareThread {
            loop.remove(remote, forMode: .common)
            remote.invalidate()
        }.join()
        second.open()
        try pass(loop)
        #expect(ends.count == 0)
        try loop.performAndWait(add)
        waitUntil("the end is reported") { ends.count == 1 }
        thread.stop()
        thread.join()
    }

    @Test func `beside the end of the loop, ends and removals of ports release the handler once`() throws {
        for round in 0..<40 {
            let releases = Shared()
            let server = try PortServer(nil, nil)
            try server.thread.runLoop.performAndWait {
                let parting = Parting { releases.increment() }
                try RunLoop.current.add(server.port, forMode: .common) { _ in parting.hold() }
            }
            let ending = try BareThread {
                if round.isMultiple(of: 2) { server.port.invalidate() }
                server.thread.runLoop.remove(server.port, forMode: .common)
            }
            server.thread.stop()
            ending.join()
            server.thread.join()
            waitUntil("the handler is released") { releases.count == 1 }
        }
    }

    // Guarantees: An end in a forked child calls no handler, and the parent's object continues to work.
    @Test func `an end in a forked child releases the child's handlers, and the parent's ports work on`()
        async
    {
        await #expect(processExitsWith: .success) {
            try onLoopThread { _ in
                let (calls, releases) = (Shared(), Shared())
                let server = try PortServer(nil, nil)
                try server.thread.runLoop.performAndWait {
                    let parting = Parting { releases.increment() }
                    try RunLoop.current.add(server.port, forMode: .common) { message in
                        parting.hold()
                        calls.increment()
                        do { try message.reply() } catch { Issue.record(error) }
                    }
                }
                let remote = try server.connect()
                let ending = try server.thread.runLoop.performAndWait {
                    Child {
                        server.thread.runLoop.remove(server.port, forMode: .common)
                        server.port.invalidate()
                        remote.invalidate()
                        if server.port.isValid || remote.isValid { return 1 }
                        return releases.count == 1 ? 0 : 2
                    }.wait()
                }
                #expect(ending == .exited(0))
                #expect(releases.count == 0)
                _ = try remote.request(before: .hang)
                #expect(calls.count == 1)
                #expect(server.port.isValid && remote.isValid)
            }
        }
    }
}

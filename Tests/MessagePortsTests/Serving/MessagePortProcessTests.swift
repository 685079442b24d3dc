import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A port in one process, and its senders in another.
@Suite struct MessagePortProcessTests {
    /// Runs the other process on a thread, until it ends.
    private func start(_ what: String, _ names: OwnNames) throws -> (Threads, Log<Program.Ending>) {
        let endings = Log<Program.Ending>()
        let threads = try Threads(1) { _ in endings.add(try Program("PortPeer").run(what, names.directory)) }
        return (threads, endings)
    }

    /// A port to which the other process reports that it is ready.
    private func readiness(_ names: OwnNames) throws -> (PortServer, Gate) {
        let ready = Gate()
        return (try PortServer(names) { _ in ready.open() }, ready)
    }

    @Test func `another process sends a request, is identified, and gets a reply`() throws {
        let names = try OwnNames()
        let senders = Log<CInt>()
        let port = try PortServer(names) { message in
            senders.add(message.sender.credentials.processID)
            do { try message.reply(bytes("the test")) } catch { Issue.record(error) }
        }
        let (process, endings) = try start("ask", names)
        try process.join()
        #expect(endings.entries.first?.lines == ["the test"])
        #expect(endings.entries.first?.isSuccess == true)
        #expect(senders.entries.count == 1 && senders.entries != [getpid()])
        withExtendedLifetime(port) {}
    }

    @Test func `messages of a process arrive before the report of its end`() throws {
        let names = try OwnNames()
        let log = Log<String>()
        let gone = Gate()
        let port = try PortServer(names) { message in log.add(text(message)) }
        try port.thread.runLoop.performAndWait {
            port.port.onPeerEnd { _, peer in
                log.add("end \(peer.credentials.processID != getpid())")
                gone.open()
            }
        }
        let (process, endings) = try start("tell", names)
        #expect(gone.wait())
        try process.join()
        #expect(endings.entries.first?.isSuccess == true)
        #expect(log.entries == ["gone", "end true"])
    }

    @Test func `a killed server is noticed once by end handlers and by requesters`()
        async throws
    {
        let names = try OwnNames()
        let (port, ready) = try readiness(names)
        let (process, endings) = try start("serve", names)
        #expect(ready.wait())
        let remote = try RemotePort(named: PortName("peer"), in: names.names, before: .hang)
        let isThere = text(try await remote.request(bytes("there?"), before: .hang)) == "there?"
        #expect(isThere)

        let notices = Shared()
        let told = Gate()
        let observer = try RunLoopThread(name: "observer")
        defer { observer.stop() }
        try await observer.runLoop.performAndWait {
            try remote.addInvalidationHandler {
                notices.increment()
                told.open()
            }
        }
        let thread = try Threads(1) { _ in
            #expect(throws: MessagePortError(.ended)) { _ = try remote.request(id: 1) }
        }
        let task = Task { _ = try await remote.request(id: 1, before: .hang) }
        // One connection is served in order, so both requests wait when a third one has been answered.
        _ = try await remote.request(before: .hang)
        kill(remote.peer.processID, SIGKILL)
        try thread.join()
        await #expect(throws: MessagePortError(.ended)) { try await task.value }
        #expect(told.wait())
        #expect(!remote.isValid)
        #expect(refusal { () throws(MessagePortError) in try remote.send() } == MessagePortError(.ended))
        try process.join()
        #expect(endings.entries.first?.code == nil)
        // A handler that is set after the end is called, too. The first handler was called once.
        let late = Gate()
        try await observer.runLoop.performAndWait { try remote.addInvalidationHandler { late.open() } }
        #expect(late.wait())
        #expect(notices.count == 1)
        // The name is free at once.
        _ = try MessagePort(named: PortName("peer"), in: names.names)
        withExtendedLifetime(port) {}
    }

    @Test func `a client that is killed while it waits is noticed once, and replying to it throws`() throws {
        let names = try OwnNames()
        let asked = Gate()
        let gone = Gate()
        let notices = Shared()
        let holder = RightHolder()
        let port = try PortServer(names) { message in
            var message = message
            let process = message.sender.credentials.processID
            holder.keep(message.takeReplyRight())
            kill(process, SIGKILL)
            asked.open()
        }
        try port.thread.runLoop.performAndWait {
            port.port.onPeerEnd { _, _ in
                notices.increment()
                gone.open()
            }
        }
        let (process, endings) = try start("ask", names)
        #expect(asked.wait() && gone.wait())
        try process.join()
        #expect(endings.entries.first?.code == nil)
        #expect(holder.reply() == MessagePortError(.ended))
        #expect(notices.count == 1)
        #expect(port.port.statistics.connections == 0)
    }
}

import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// In a forked child, ends and removals of the parent's ports give back only the child's copies.
///
/// Each test has a process of its own, which forks.
@Suite struct ForkedPortTests {
    /// What a child does to a port of its parent.
    enum Act: String, Codable, CaseIterable {
        case end, remove, removeFromAllModes

        var isRemoval: Bool { self != .end }

        func perform(on port: some RunLoopMember, of loop: RunLoop, end: () -> Void) {
            switch self {
            case .end: end()
            case .remove: for mode in [RunLoop.Mode.default, .common] { loop.remove(port, forMode: mode) }
            case .removeFromAllModes: loop.remove(port)
            }
        }
    }

    /// The port of which a child has a copy.
    enum Side: String, Codable, CaseIterable { case server, client }

    /// A port and a remote port, each in the loop of its own thread, with all handlers.
    private final class Stage: Sendable {
        let server: PortServer
        let thread: RunLoopThread
        let remote: RemotePort
        /// The numbers of the messages that each side has received.
        let received = Log<UInt32>()
        let pushed = Log<UInt32>()
        /// The calls of the other handlers, by name.
        let events = Log<String>()
        /// For each release of what the handlers of a side hold, true if it came on the loop's thread.
        let serverReleases = Log<Bool>()
        let clientReleases = Log<Bool>()
        private let lastNumber = Shared()

        init() throws {
            server = try PortServer(nil, nil)
            thread = try RunLoopThread(name: "client")
            remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            let (received, pushed, events) = (received, pushed, events)
            let (serverReleases, clientReleases) = (serverReleases, clientReleases)
            let (port, remote) = (server.port, remote)
            try server.onThread { loop in
                let parting = Parting { serverReleases.add(loop.isCurrent) }
                try loop.add(port, forMode: .common) { [unowned port] message in
                    parting.hold()
                    received.add(message.id)
                    let (number, sender, isRequest) = (message.id, message.sender, message.isRequest)
                    do {
                        if isRequest { return try message.reply(id: number) }
                        #expect(try port.trySend(id: number, to: sender))
                    } catch { Issue.record(error) }
                }
                port.onPeerEnd { _, _ in events.add("peer ended") }
                port.onPeerRoom { _, _ in events.add("peer has room") }
                port.addInvalidationHandler { events.add("port ended") }
            }
            try thread.runLoop.performAndWait {
                let loop = RunLoop.current
                let parting = Parting { clientReleases.add(loop.isCurrent) }
                try loop.add(remote, forMode: .common) { message in
                    parting.hold()
                    pushed.add(message.id)
                }
                remote.onConnect { _ in events.add("connected") }
                remote.onRoom { _ in events.add("room") }
                remote.onEnd { _, error in events.add("ended: \(error.reason == .ended)") }
            }
            waitUntil("the port has admitted the client") { events.entries == ["connected"] }
        }

        /// Makes a message go there and one back, and a request get its reply.
        func exchange() throws {
            let number = UInt32(lastNumber.increment())
            try remote.send(id: number, before: .hang)
            waitUntil("the message came back") { pushed.entries.last == number }
            let reply = try remote.request(id: number, before: .hang)
            #expect(reply.id == number)
        }

        /// Ends the port, and checks that each end is reported once.
        func end() throws {
            server.port.invalidate()
            waitUntil("the ends are reported") { events.entries.count >= 3 }
            thread.stop()
            thread.join()
            waitUntil("the port has left its loop") { !serverReleases.entries.isEmpty }
            #expect(events.entries.sorted() == ["connected", "ended: true", "port ended"])
            #expect(serverReleases.entries == [true] && clientReleases.entries == [true])
        }
    }

    // Guarantees: An end in a forked child calls no handler, and the parent's object continues to work.
    // Guarantees: A removal in a forked child does nothing.
    @Test(arguments: Side.allCases, Act.allCases)
    func `an end or a removal in a forked child calls nothing, and the parent's ports go on`(
        side: Side, act: Act
    ) async {
        await #expect(processExitsWith: .success) { [side, act] in
            let stage = try Stage()
            try stage.exchange()
            let loop = side == .server ? stage.server.thread.runLoop : stage.thread.runLoop
            let port: any RunLoopMember & Sendable = side == .server ? stage.server.port : stage.remote
            let isValid = { @Sendable in side == .server ? stage.server.port.isValid : stage.remote.isValid }
            let releases = side == .server ? stage.serverReleases : stage.clientReleases
            let fork: @Sendable () -> Child.Ending = {
                Child {
                    for _ in 0..<2 {
                        act.perform(on: port, of: loop) {
                            side == .server ? stage.server.port.invalidate() : stage.remote.invalidate()
                        }
                    }
                    if isValid() != act.isRemoval { return 1 }
                    if releases.entries.count != (act.isRemoval ? 0 : 1) { return 2 }
                    let isQuiet = stage.received.entries.count == stage.pushed.entries.count * 2
                    return isQuiet && stage.events.entries == ["connected"] ? 0 : 3
                }.wait()
            }
            for isOnLoopThread in [true, false] {
                if isOnLoopThread {
                    #expect(try await loop.performAndWait(fork) == .exited(0))
                } else {
                    try BareThread { #expect(fork() == .exited(0)) }.join()
                }
                for _ in 0..<2 { try stage.exchange() }
                #expect(isValid() && stage.events.entries == ["connected"])
                #expect(stage.serverReleases.entries.isEmpty && stage.clientReleases.entries.isEmpty)
            }
            try stage.end()
        }
    }

    // Guarantees: An end in a forked child calls no handler, and the parent's object continues to work.
    // Guarantees: A removal in a forked child does nothing.
    @Test(arguments: Act.allCases, [true, false])
    func `clients that are connected at a fork lose nothing if the child ends or removes the port`(
        act: Act, isOnLoopThread: Bool
    ) async {
        await #expect(processExitsWith: .success) { [act, isOnLoopThread] in
            let (received, senders, ended) = (Log<UInt32>(), Log<MessagePort.Peer>(), Shared())
            let right = RightHolder()
            let server = try PortServer { message in
                var message = message
                if message.isRequest { return right.keep(message.takeReplyRight()) }
                received.add(message.id)
                senders.add(message.sender)
            }
            let (port, loop) = (server.port, server.thread.runLoop)
            try server.onThread { [port] _ in port.onPeerEnd { _, _ in ended.increment() } }
            // A client that reads nothing, for which the port keeps messages.
            let reader = try PushClient(server)
            try reader.send(id: 0)
            waitUntil("the reader is known") { senders.entries.count == 1 }
            var count: UInt32 = 0
            while try port.trySend(id: count, to: senders.entries[0]) { count += 1 }
            // A client whose messages wait, and whose request is unanswered, because the test holds the right to reply.
            let client = try server.connect()
            let replies = Log<UInt32?>()
            let asking = try BareThread {
                do { replies.add(try client.request(before: .hang).id) } catch { replies.add(nil) }
            }
            waitUntil("the request has come") { !right.isEmpty }
            let connections = port.statistics.connections
            // The messages wait, because the loop is blocked until the child has ended.
            let (isBlocked, isOver, isSent) = (Gate(), Gate(), Gate())
            let fork: @Sendable () -> Void = {
                let ending = Child {
                    act.perform(on: port, of: loop) { port.invalidate() }
                    right.keep(nil)
                    return port.isValid == act.isRemoval ? 0 : 1
                }.wait()
                #expect(ending == .exited(0))
            }
            loop.perform {
                isBlocked.open()
                _ = isSent.wait()
                if isOnLoopThread { fork() }
                _ = isOver.wait()
            }
            #expect(isBlocked.wait())
            for number in 1...3 { try client.send(id: UInt32(number), before: .hang) }
            isSent.open()
            if !isOnLoopThread { fork() }
            isOver.open()
            waitUntil("the messages are delivered") { received.entries.count == 4 }
            #expect(received.entries == [0, 1, 2, 3])
            #expect(replies.entries.isEmpty)
            #expect(right.reply() == nil)
            asking.join()
            #expect(replies.entries == [0])
            try reader.read()
            waitUntil("what was kept is delivered") { reader.log.entries.count == count }
            #expect(reader.log.entries == Array(0..<count))
            #expect(port.isValid && client.isValid && reader.remote.isValid && ended.count == 0)
            #expect(port.statistics.connections == connections)
            try server.connect().send(id: 4, before: .hang)
            waitUntil("a new client is served") { received.entries.last == 4 }
        }
    }

    @Test func `the name of a port that a child has ended is free after the parent's end`() async {
        await #expect(processExitsWith: .success) {
            let name = try PortName("@forked-\(getpid())")
            let port = try MessagePort(named: name)
            let (ended, over) = (ReadablePipe(), ReadablePipe())
            let child = Child {
                port.invalidate()
                ended.fill()
                over.drain()
                return 0
            }
            ended.drain()
            #expect(throws: MessagePortError.self) { _ = try MessagePort(named: name) }
            port.invalidate()
            try MessagePort(named: name).invalidate()
            over.fill()
            #expect(child.wait() == .exited(0))
        }
    }
}

import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The end of a port, of a connection, and of pending messages.
@Suite struct MessagePortEndTests {
    @Test(arguments: [false, true])
    func `pending requests fail once when the port ends, on any thread`(
        withDeadline: Bool
    ) async throws {
        let asked = Shared()
        let rights = Log<RightHolder>()
        let server = try PortServer { message in
            var message = message
            let holder = RightHolder()
            holder.keep(message.takeReplyRight())
            rights.add(holder)
            asked.increment()
        }
        let remote = try server.connect()
        let threads = try Threads(3) { _ in
            #expect(throws: MessagePortError(.ended)) {
                _ = try remote.request(before: withDeadline ? .hang : nil)
            }
        }
        let task = Task { _ = try await remote.request(before: .hang) }
        await yieldUntil("all have asked") { asked.count == 4 }
        server.port.invalidate()
        server.port.invalidate()
        await #expect(throws: MessagePortError(.ended)) { try await task.value }
        try threads.join()
        #expect(
            rights.entries.map { $0.reply() } == [
                MessagePortError(.ended), MessagePortError(.ended), MessagePortError(.ended),
                MessagePortError(.ended),
            ])
        #expect(refusal { () throws(MessagePortError) in try remote.send() } == MessagePortError(.ended))
    }

    @Test(arguments: [false, true])
    func `invalidating a remote port fails its own requests and notifies the port`(
        withDeadline: Bool
    ) async throws {
        let gone = Gate()
        let holder = RightHolder()
        let asked = Gate()
        let server = try PortServer { message in
            var message = message
            holder.keep(message.takeReplyRight())
            asked.open()
        }
        try server.onThread { [port = server.port] _ in port.onPeerEnd { _, _ in gone.open() } }
        let remote = try server.connect()
        let thread = try Threads(1) { _ in
            #expect(throws: MessagePortError(.ended)) {
                _ = try remote.request(before: withDeadline ? .hang : nil)
            }
        }
        #expect(asked.wait())
        remote.invalidate()
        try thread.join()
        #expect(gone.wait())
        #expect(holder.reply() == MessagePortError(.ended))
        #expect(!remote.isValid && server.port.isValid)
    }

    @Test func `messages that were sent before their sender ended still arrive`() throws {
        let log = Log<UInt32>()
        let gone = Gate()
        let server = try PortServer { log.add($0.id) }
        try server.onThread { [port = server.port] _ in port.onPeerEnd { _, _ in gone.open() } }
        do {
            let remote = try server.connect()
            for number in 0..<50 { try remote.send(id: UInt32(number)) }
        }
        #expect(gone.wait())
        #expect(log.entries == Array(0..<50))
    }

    @Test func `a handler may end its port, and no other handler starts`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("ends"), in: names.names)
            var received: [UInt32] = []
            try loop.add(port, forMode: .default) { message in
                received.append(message.id)
                port.invalidate()
            }
            let client = try Threads(1) { _ in
                let remote = try RemotePort(named: PortName("ends"), in: names.names, before: .hang)
                try remote.send(id: 1)
                // The port can have ended before this message is sent.
                _ = refusal { () throws(MessagePortError) in try remote.send(id: 2) }
            }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            try client.join()
            #expect(received == [1])
        }
    }

    // Guarantees: The end of a port is reported once to each handler that asked for it, unless the handler's loop ends first.
    @Test func `the end of a port is reported once to each handler, even to one that is added later`() throws
    {
        let server = try PortServer()
        let told = Shared()
        let (first, second) = (Gate(), Gate())
        try server.onThread { [port = server.port] _ in
            port.addInvalidationHandler {
                told.increment()
                first.open()
            }
        }
        server.port.invalidate()
        #expect(first.wait())
        try server.onThread { [port = server.port] _ in port.addInvalidationHandler { second.open() } }
        #expect(second.wait())
        #expect(told.count == 1)
    }

    @Test func `a handler for the end is called without any message or request`() throws {
        let server = try PortServer()
        let remote = try server.connect()
        let told = Gate()
        let observer = try RunLoopThread(name: "observer")
        defer { observer.stop() }
        try observer.runLoop.performAndWait { try remote.addInvalidationHandler { told.open() } }
        server.port.invalidate()
        #expect(told.wait())
        #expect(!remote.isValid)
    }

    @Test func `a port ends with its last reference, and outlives its loop while there is one`() throws {
        let names = try OwnNames()
        let name = try PortName("goes")
        do {
            let thread = try RunLoopThread(name: "ends")
            let port = try MessagePort(named: name, in: names.names)
            try thread.runLoop.performAndWait {
                try RunLoop.current.add(port, forMode: .common) { _ = $0.id }
            }
            thread.stop()
            thread.join()
            #expect(port.isValid)
            try onLoopThread { loop in
                try loop.add(port, forMode: .default) { _ = $0.id }
                let client = try Threads(1) { _ in
                    try RemotePort(named: name, in: names.names, before: .hang).send(id: 1)
                }
                _ = loop.run(mode: .default, before: .hang)
                try client.join()
            }
        }
        waitUntil("the name is free") {
            refusal { () throws(MessagePortError) in try take(name, names) } == nil
        }
    }

    @Test func `a filter may end its port, whose name is free when invalidate returns`() throws {
        let (names, name) = (try OwnNames(), try PortName("test"))
        let ending = Log<MessagePort>()
        let (refusals, asked) = (Log<MessagePortError?>(), Gate())
        let server = try PortServer(
            names,
            admitting: { _ in
                for port in ending.entries { port.invalidate() }
                refusals.add(refusal(taking: name, of: names))
                asked.open()
                return true
            })
        ending.add(server.port)
        #expect(throws: MessagePortError(.ended)) { _ = try server.connect() }
        #expect(asked.wait())
        #expect(refusals.entries == [nil])
        ending.removeAll()
    }

    @Test func `a port that another thread ends while its filter runs has released its name, too`()
        throws
    {
        let (names, name) = (try OwnNames(), try PortName("test"))
        let (isAsked, mayAnswer) = (Gate(), Gate())
        let server = try PortServer(
            names,
            admitting: { _ in
                isAsked.open()
                #expect(mayAnswer.wait())
                return true
            })
        let client = try Threads(1) { _ in
            #expect(throws: MessagePortError(.ended)) { _ = try server.connect() }
        }
        #expect(isAsked.wait())
        server.port.invalidate()
        #expect(refusal(taking: name, of: names) == nil)
        mayAnswer.open()
        try client.join()
        // The filter has admitted the peer, but the port has ended.
        #expect(server.port.statistics.connections == 0 && server.port.statistics.admittedPeers == 0)
    }

    // Guarantees: A name is free when its port has ended.
    @Test(arguments: [false, true])
    func `a name is free when its port was ended, however many processes connect at that moment`(
        isAbstract: Bool
    )
        async
    {
        // In a process of its own: a child that another test starts meanwhile also has the socket, until the child calls exec.
        await #expect(processExitsWith: .success) { [isAbstract] in
            let names = try OwnNames()
            let name = try uniqueName(isAbstract)
            let thread = try RunLoopThread(name: "server")
            let isOver = Shared()
            let clients = try Threads(2) { _ in
                while isOver.count == 0 {
                    do { _ = try names.names.connect(to: name, before: .now) } catch {}
                }
            }
            for _ in 0..<100 {
                let port = try MessagePort(named: name, in: names.names)
                try await thread.runLoop.performAndWait {
                    try RunLoop.current.add(port, forMode: .common) { _ = $0.id }
                }
                waitUntil("a connection was accepted") { port.statistics.connections > 0 }
                port.invalidate()
            }
            isOver.increment()
            try clients.join()
            thread.stop()
        }
    }

    // Guarantees: Every descriptor that was not taken is closed, and no loop waits for that, however many descriptors there are and
    // however long it takes.
    @Test func `descriptors of messages and replies are closed if they are not taken`() async {
        await #expect(processExitsWith: .success) {
            let taken = Log<CInt>()
            let server = try PortServer { message in
                var message = message
                if message.id == 1, let pipe = message.descriptors.takeFirst() {
                    // The received descriptor is open here, under another number.
                    var byte: UInt8 = 0
                    // Safe: the kernel writes one byte to a local variable.
                    #expect(unsafe read(pipe.descriptor, &byte, 1) == 1)
                    taken.add(pipe.descriptor)
                }
                if message.isRequest {
                    let echo = message.descriptors.numbers
                    guard let right = message.takeReplyRight() else { return }
                    do { try right.reply(descriptors: echo) } catch { Issue.record(error) }
                }
            }
            let bound = try boundOfDescriptors()
            try onLoopThread { _ in
                let remote = try server.connect()
                let pipe = ReadablePipe()
                pipe.fill()
                try remote.send(id: 1, descriptors: [pipe.readingEnd])
                for _ in 0..<300 {
                    try remote.send(
                        id: 2, descriptors: [pipe.readingEnd, pipe.readingEnd, pipe.readingEnd], before: .hang
                    )
                    let reply = try remote.request(id: 3, descriptors: [pipe.readingEnd], before: .hang)
                    let count = reply.descriptors.count
                    #expect(count == 1)
                }
            }
            #expect(taken.entries.count == 1)
            // The taken descriptor was closed at the end of the handler, and the requesting thread has ended with its descriptors.
            waitUntil("all are closed") { openDescriptors(from: bound) == 0 }
        }
    }
}

/// The error with which a name cannot be registered, or nil.
private func refusal(taking name: PortName, of names: OwnNames) -> MessagePortError? {
    refusal { () throws(MessagePortError) in try take(name, names) }
}

private func take(_ name: PortName, _ names: OwnNames) throws(MessagePortError) {
    _ = try MessagePort(named: name, in: names.names)
}

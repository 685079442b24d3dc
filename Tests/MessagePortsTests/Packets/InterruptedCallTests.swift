import TestExpectations
import TestSupport
import Testing

import class MessagePorts.MessagePort

@testable import MessagePorts
@testable import RunLoops

/// If a signal interrupts a system call, the call is made again.
@Suite struct InterruptedCallTests {
    @Test func `a descriptor is closed only once, because another file may have its number by then`() throws {
        let wire = try Wire.pipe()
        defer { wire.close(wire.far) }
        var owned: OwnedDescriptor? = OwnedDescriptor(wire.near)
        Faults.interrupt(.close, times: 3)
        owned = nil
        let left = Faults.interruptionsLeft(.close)
        Faults.interrupt(.close, times: 0)
        #expect(left == 2)
        _ = consume owned
    }

    @Test func `a packet is sent, and received, and waited for`() throws {
        let ends = try PacketSocket.pair()
        #expect(interrupted(.sendmsg) { ends.near.give([1]) } == .sent)
        #expect(try interrupted(.ppoll) { try ends.far.wait(for: .read, before: .hang) })
        #expect(interrupted(.recvmsg) { ends.far.take() } == .packet([1], descriptors: 0))
        #expect(ends.near.give([2]) == .sent)
        #expect(interrupted(.recvmsg) { ends.far.take(waits: true) } == .packet([2], descriptors: 0))
        let deadline = ContinuousClock.now + .milliseconds(5)
        #expect(try !interrupted(.ppoll) { try ends.far.wait(for: .read, before: deadline) })
        #expect(.now >= deadline)
    }

    @Test func `the end of a connection is distinguished from an empty packet`() throws {
        let ends = try PacketSocket.pair()
        ends.near.shutDown()
        #expect(interrupted(.poll) { ends.far.take() } == .end)
    }

    @Test(arguments: [Faults.Call.open, .openat, .flock])
    func `a name is taken`(call: Faults.Call) throws {
        let names = try OwnNames()
        let name = try PortName("test")
        let port = try interrupted(call) { try MessagePort(named: name, in: names.names) }
        port.invalidate()
    }

    @Test(arguments: [Faults.Call.open, .connect])
    func `a port is found`(call: Faults.Call) throws {
        let server = try PortServer()
        let remote = try interrupted(call) { try server.connect() }
        try remote.send(bytes("hello"))
    }

    @Test(arguments: [Faults.Call.accept, .recvmsg, .sendmsg, .epollWait])
    func `a port's loop accepts and answers`(call: Faults.Call) throws {
        let server = try PortServer { message in
            let answer = bytes("got " + text(message))
            do { try message.reply(answer) } catch { Issue.record(error) }
        }
        // One kind of call is interrupted at a time.
        try server.onThread { _ in Faults.interrupt(call, times: 1) }
        let remote = try server.connect()
        try server.onThread { _ in if call != .accept { Faults.interrupt(call) } }
        let reply = try remote.request(bytes("it"), before: .hang)
        #expect(text(reply) == "got it")
        #expect(try server.onThread { _ in Faults.interruptionsLeft(call) } == 0)
        #expect(server.port.statistics.admittedPeers == 1)
    }

    @Test(arguments: [Faults.Call.sendmsg, .recvmsg, .ppoll])
    func `a request is sent, and its reply waited for and read`(call: Faults.Call) throws {
        let server = try PortServer { message in do { try message.reply() } catch { Issue.record(error) } }
        let remote = try server.connect()
        _ = try interrupted(call) { try remote.request(bytes("it"), before: .hang) }
        // Without a deadline, the request blocks in the call that reads.
        if call != .ppoll { _ = try interrupted(call) { try remote.request(bytes("it")) } }
    }
}

import Glibc
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The code of the article "Restarting a server", in a process of its own, which has the user's names to itself.
@Suite struct RestartingAServerSnippets {
    private let print = Printed()

    @Test func `a new server takes over the listener, the state and the name`() async {
        await #expect(processExitsWith: .success) {
            try withOwnNames { try RestartingAServerSnippets().restart() }
        }
    }

    private func restart() throws {
        let old = try RunLoopThread(name: "old server")
        let state = Array("7 clients served".utf8)
        // A stand-in for a listening socket.
        let listener = dup(STDERR_FILENO)
        @Sendable func serve() throws {
            let handOver: UInt32 = 1
            let serving: UInt32 = 2
            let control = try MessagePort(named: PortName("org.example.server"))
            try RunLoop.current.add(control, forMode: .common) { message in
                if message.id == serving {
                    close(listener)
                    control.invalidate()
                    RunLoop.current.stop()
                }
                guard message.id == handOver else { return }
                do { try message.reply(state, descriptors: [listener]) } catch {
                    print("not handed over:", error)
                }
            }
        }
        try old.runLoop.performAndWait { try serve() }
        @Sendable func takeTurn() throws -> MessagePort {
            let name = try PortName("org.example.server.next")
            while true {
                do throws(MessagePortError) { return try MessagePort(named: name) } catch {
                    guard error.nameError?.reason == .taken else { throw error }
                }
                do { _ = try RemotePort(named: name) } catch { continue }
            }
        }
        let turn = try takeTurn()
        let second = try Threads(1) { _ in try takeTurn().invalidate() }
        let new = try Threads(1) { _ in try takeOver(state) }
        try new.join()
        turn.invalidate()
        try second.join()
        old.stop()
    }

    private func takeOver(_ state: [UInt8]) throws {
        let handOver: UInt32 = 1
        let serving: UInt32 = 2
        // A stand-in for a listener on this loop, which keeps its run going.
        let clients = Port<Int>()
        var isOpen = false
        func accept(_ listener: CInt) {
            isOpen = fcntl(listener, F_GETFD) != -1
            RunLoop.current.add(clients, forMode: .default) { _ in }
        }
        let predecessor = try RemotePort(named: PortName("org.example.server"), descriptorLimit: 253)
        var reply = try predecessor.request(id: handOver)
        guard let listener = reply.descriptors.takeFirst() else { return }
        accept(listener.descriptor)
        try predecessor.addInvalidationHandler { RunLoop.current.stop() }
        try predecessor.send(id: serving)
        RunLoop.current.run()
        let successor = try MessagePort(named: PortName("org.example.server"))
        let bytes = reply.bytes
        #expect(isOpen && bytes == state && successor.isValid && print.lines.isEmpty)
    }
}

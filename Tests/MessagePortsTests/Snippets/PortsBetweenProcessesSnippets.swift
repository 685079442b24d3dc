import Foundation
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

import class MessagePorts.MessagePort
import class RunLoops.RunLoop

/// The code of the article "Ports between processes", each part in a process of its own, which has the user's names to itself.
@Suite struct PortsBetweenProcessesSnippets {
    private let print = Printed()

    @Test func `a client finds a server by name, and the server sends back what it receives`() async {
        await #expect(processExitsWith: .success) {
            try withOwnNames { try PortsBetweenProcessesSnippets().echo() }
        }
    }

    @Test func `a handler keeps the right to reply, and the filter decides which processes connect`() async {
        await #expect(processExitsWith: .success) {
            try withOwnNames { try PortsBetweenProcessesSnippets().service() }
        }
    }

    @Test func `descriptors that a handler takes out stay open`() async {
        await #expect(processExitsWith: .success) {
            try withOwnNames { try PortsBetweenProcessesSnippets().files() }
        }
    }

    private func echo() throws {
        let server = try RunLoopThread(name: "server")
        let ended = Gate()
        @Sendable func serve() throws {
            let echo = try MessagePort(named: PortName("org.example.echo"))
            try RunLoop.current.add(echo, forMode: .common) { message in
                let answer = message.bytes
                do { try message.reply(answer) } catch { print("no reply:", error) }
            }
            echo.onPeerEnd { _, peer in print("ended:", peer.credentials) }
            RunLoop.current.addEndHandler { ended.open() }
        }
        try server.runLoop.performAndWait { try serve() }
        func ask() throws {
            let remote = try RemotePort(named: PortName("org.example.echo"), before: .now + .seconds(5))
            let reply = try remote.request(Array("hello".utf8), before: .now + .seconds(1))
            print(String(decoding: reply.bytes, as: UTF8.self))
        }
        // On a busy machine, the deadline of a second can pass before the reply.
        while !print.lines.contains("hello") { do { try ask() } catch MessagePortError.Reason.timedOut {} }
        waitUntil("the client has ended") {
            print.lines.contains { $0.hasPrefix("ended: process \(getpid()) of user") }
        }
        server.stop()
        #expect(ended.wait())
    }

    private func service() throws {
        let server = try RunLoopThread(name: "server")
        @Sendable func compute(_ question: [UInt8], thenReplyWith right: consuming MessagePort.ReplyRight) {
            do { try right.reply(question.reversed()) } catch { Issue.record(error) }
        }
        @Sendable func serve() throws {
            let service = try MessagePort(named: PortName("org.example.service")) { peer in
                peer.isOfThisUser || peer.userID == 0
            }
            try RunLoop.current.add(service, forMode: .common) { message in
                var message = message
                let question = message.bytes
                guard let right = message.takeReplyRight() else { return }
                compute(question, thenReplyWith: right)
            }
        }
        try server.runLoop.performAndWait { try serve() }
        let reply = try RemotePort(named: PortName("org.example.service")).request([1, 2, 3], before: .hang)
        let isComputed = reply.bytes == [3, 2, 1]
        #expect(isComputed)
    }

    private func files() throws {
        try onLoopThread { loop in
            let inbox = try MessagePort(named: PortName("org.example.inbox"))
            var open: [CInt] = []
            try RunLoop.current.add(inbox, forMode: .common) { message in
                var message = message
                while let file = message.descriptors.takeFirst() { open.append(file.release()) }
            }
            let client = try Threads(1) { _ in
                try RemotePort(named: PortName("org.example.inbox")).send(descriptors: [0, 1, 2])
            }
            while open.isEmpty { _ = loop.run(mode: .default, before: .hang) }
            try client.join()
            #expect(open.count == 3 && open.allSatisfy { fcntl($0, F_GETFD) != -1 })
        }
    }
}

/// Gives this process a directory of its own for the user's names.
func withOwnNames(_ body: () throws -> Void) throws {
    let directory = try ScratchDirectory()
    // Safe: no other thread reads the environment yet.
    _ = unsafe setenv("XDG_RUNTIME_DIR", directory.path, 1)
    try body()
    try directory.remove()
}

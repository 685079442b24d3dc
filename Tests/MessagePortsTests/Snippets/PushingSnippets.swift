import Foundation
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

import class MessagePorts.MessagePort
import class RunLoops.RunLoop

/// The code of the article "Pushing messages to peers", in a process of its own, which has the user's names to itself.
@Suite struct PushingSnippets {
    private let print = Printed()

    @Test func `a server sends to its clients, and is told when it loses its name`() async {
        await #expect(processExitsWith: .success) {
            try withOwnNames { try PushingSnippets().news() }
        }
    }

    private func news() throws {
        let server = try RunLoopThread(name: "server")
        @Sendable func serve() throws {
            var subscribers: [MessagePort.Peer] = []
            let news = try MessagePort(named: PortName("org.example.news"))
            try RunLoop.current.add(news, forMode: .common) { message in
                subscribers.append(message.sender)
                do {
                    if try !news.trySend(Array("welcome".utf8), to: message.sender) {
                        print("it does not read")
                    }
                } catch {
                    print("it has ended:", error)
                }
            }
            news.onPeerRoom { _, peer in print("reads again:", peer) }
            news.onPeerEnd { _, peer in subscribers.removeAll { $0 == peer } }
            try news.onNameLoss { news in
                print("another server may have the name")
                news.invalidate()
            }
        }
        try server.runLoop.performAndWait { try serve() }
        let client = try RunLoopThread(name: "client")
        @Sendable func listen() throws {
            let remote = try RemotePort(connectingTo: PortName("org.example.news"))
            try RunLoop.current.add(remote, forMode: .common) { message in
                print("news:", String(decoding: message.bytes, as: UTF8.self))
            }
            remote.onConnect { remote in
                do { if try !remote.trySend(Array("sports".utf8)) { print("no room") } } catch {
                    print(error)
                }
            }
            remote.onEnd { _, error in print("no more news:", error) }
        }
        try client.runLoop.performAndWait { try listen() }
        waitUntil("the news have come") { print.lines == ["news: welcome"] }
        let directory = try #require(ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]) + "/run-loops"
        try FileManager.default.removeItem(atPath: directory)
        waitUntil("both ends have noticed") { print.lines.count == 3 }
        #expect(print.lines[1] == "another server may have the name")
        #expect(print.lines[2].hasPrefix("no more news: remote port \"org.example.news\""))
        client.stop()
        server.stop()
    }
}

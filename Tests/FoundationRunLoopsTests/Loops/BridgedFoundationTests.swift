import Foundation
import FoundationNetworking
import FoundationRunLoops
import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Parts of Foundation that call back while a thread with a bridge runs one of its loops.
@Suite struct BridgedFoundationTests {
    @Test(arguments: LoopBridgeTests.Host.allCases)
    func `threads, queues, file handles and blocks of Foundation's call back`(host: LoopBridgeTests.Host)
        throws
    {
        try onLoopThread { _ in
            let bridge = try RunLoopBridge()
            let calls = Log<String>()
            let pipe = Pipe()
            pipe.fileHandleForReading.readabilityHandler = { handle in
                _ = handle.availableData
                calls.add("readability handler")
            }
            try pipe.fileHandleForWriting.write(contentsOf: Data("x".utf8))
            OperationQueue().addOperation { calls.add("operation") }
            let loop = LoopBridgeTests.Performer(Foundation.RunLoop.current)
            Thread {
                calls.add("thread")
                loop.perform { calls.add("block") }
            }.start()
            host.run { calls.entries.count == 4 }
            #expect(Set(calls.entries) == ["readability handler", "operation", "thread", "block"])
            pipe.fileHandleForReading.readabilityHandler = nil
            bridge.invalidate()
        }
    }

    @Test(arguments: LoopBridgeTests.Host.allCases)
    func `a session calls its completion handler`(host: LoopBridgeTests.Host) throws {
        try onLoopThread { _ in
            let bridge = try RunLoopBridge()
            let session = URLSession(configuration: .ephemeral)
            let (socket, port) = try Loopback.listen()
            let bodies = Log<String>()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
            session.dataTask(with: url) { data, _, _ in
                bodies.add(String(decoding: data ?? Data(), as: UTF8.self))
            }
            .resume()
            var client: CInt = -1
            host.run {
                if client < 0 { client = accept(socket, nil, nil) }
                return client >= 0
            }
            _ = try Loopback.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), to: client)
            host.run { !bodies.entries.isEmpty }
            #expect(bodies.entries == ["ok"])
            close(client)
            close(socket)
            session.invalidateAndCancel()
            bridge.invalidate()
        }
    }
}

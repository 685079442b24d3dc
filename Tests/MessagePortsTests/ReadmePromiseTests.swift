import MessagePorts
import RunLoops
import TestSupport
import Testing

/// The README's bullet about ports, as far as it concerns requests and other processes.
@Suite struct ReadmePromiseTests {
    @Test
    func
        `ports: a question is answered, and between processes ports have names and carry bytes and descriptors`()
        async
    {
        // In a process of its own, with its own names of the user.
        await #expect(processExitsWith: .success) {
            try withOwnNames {
                let server = try RunLoopThread(name: "server")
                let questions = Port<ReplyRight<Int>>()
                let name = try PortName("org.example.length")
                try server.runLoop.performAndWait {
                    RunLoop.current.add(questions, forMode: .common) { $0.reply(42) }
                    let port = try MessagePort(named: name)
                    try RunLoop.current.add(port, forMode: .common) { message in
                        let answer = message.bytes + [UInt8(message.descriptors.count)]
                        do { try message.reply(answer) } catch { Issue.record(error) }
                    }
                }
                let answer = try questions.request { $0 }
                #expect(answer == 42)
                let remote = try RemotePort(named: name, before: .hang)
                let reply = try remote.request([7], descriptors: [0], before: .hang)
                let bytes = reply.bytes
                #expect(bytes == [7, 1])
                server.stop()
                server.join()
            }
        }
    }
}

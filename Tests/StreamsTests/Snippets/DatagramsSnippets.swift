import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The time after which the query of the article is repeated, shorter than there.
private let interval = Duration.milliseconds(2)

/// The code of the article "Datagrams".
@Suite struct DatagramsSnippets {
    @Test func `a receiver of statsd sums up counters`() throws {
        try onLoopThread { loop in
            let port: UInt16 = 0
            var counters: [String: Int] = [:]
            let socket = try DatagramSocket(.udp(port: port))
            socket.onReceive { _, bytes, _ in
                for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                    let parts = line.split(whereSeparator: { $0 == ":" || $0 == "|" })
                    guard parts.count >= 3, parts[2] == "c", let value = Int(parts[1]) else { continue }
                    counters[String(parts[0]), default: 0] &+= value
                }
            }
            try RunLoop.current.add(socket, forMode: .default)
            let sender = try DatagramSocket(.udp(port: 0))
            try loop.add(sender, forMode: .default)
            for text in ["requests:1|c\nerrors:2|c", "load:7|g\nrequests:40|c|@0.1\n", "nonsense"] {
                sender.send(text, to: socket.loopback)
            }
            loop.run(until: "all are counted") { socket.statistics.received == 3 }
            #expect(counters == ["requests": 41, "errors": 2])
            socket.close()
            sender.close()
        }
    }

    @Test func `a connected socket is answered, and told what is refused`() throws {
        try onLoopThread { loop in
            let echo = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            echo.onReceive { echo, bytes, sender in echo.send(bytes, to: sender) }
            try loop.add(echo, forMode: .default)
            let server = echo.localAddress
            var answers: [String] = []
            let socket = try DatagramSocket(connectedTo: server)
            socket.onReceive { _, bytes, _ in answers.append(String(decoding: bytes, as: UTF8.self)) }
            try RunLoop.current.add(socket, forMode: .default)
            socket.send("hello")
            loop.run(until: "the answer") { answers == ["hello"] }
            var printed: [String] = []
            func print(_ text: String) { printed.append(text) }
            socket.onUndelivered { _, error, receiver in
                print("\(error), to \(receiver.map { "\($0)" } ?? "an unknown receiver")")
            }
            echo.close()
            socket.send("hello?")
            loop.run(until: "the error") { !printed.isEmpty }
            #expect(printed == ["sendmmsg: Connection refused (111), to \(server)"])
            socket.close()
        }
    }

    final class Query {
        private let socket: DatagramSocket
        private var timer: Timer?
        private var attempts = 0

        init(_ question: [UInt8], to server: SocketAddress, onAnswer: @escaping ([UInt8]?) -> Void) throws {
            socket = try DatagramSocket(connectedTo: server)
            socket.onReceive { [self] socket, bytes, _ in
                // The first two bytes are the number of the query, which the answer repeats.
                let answer = Array(bytes)
                guard answer.count >= 12, answer[..<2] == question[..<2] else { return }
                finish { onAnswer(answer) }
            }
            let timer = Timer(timeInterval: interval, repeats: true) { [self] _ in
                attempts += 1
                if attempts == 3 { finish { onAnswer(nil) } } else { socket.send(question) }
            }
            self.timer = timer
            try RunLoop.current.add(socket, forMode: .default)
            RunLoop.current.add(timer, forMode: .default)
            socket.send(question)
        }

        private func finish(_ report: () -> Void) {
            timer?.invalidate()
            socket.close()
            report()
        }
    }

    @Test(arguments: 0...3) func `a query is sent again until it is answered, three times at most`(
        answered: Int
    ) throws {
        try onLoopThread { loop in
            let server = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            var questions = 0
            server.onReceive { server, bytes, sender in
                questions += 1
                server.send([9, 9] + [UInt8](repeating: 0, count: 10), to: sender)
                if questions == answered { server.send([UInt8](bytes) + [1], to: sender) }
            }
            try loop.add(server, forMode: .default)
            let question: [UInt8] = [1, 2] + [UInt8](repeating: 0, count: 15)
            var answers: [[UInt8]?] = []
            _ = try Query(question, to: server.localAddress) { answers.append($0) }
            loop.run(until: "the query ends") { !answers.isEmpty }
            loop.settle()
            // Under load, a query can be over before the server has answered.
            if let answer = answers[0] { #expect(answer == question + [1]) }
            if answered == 0 { #expect(answers == [nil]) }
            #expect(answers.count == 1 && questions <= 3)
            server.close()
        }
    }

    private actor Echo: RunLoopActor {
        nonisolated let runLoop: RunLoop
        private let socket: DatagramSocket
        private var answers: [[UInt8]] = []

        init(_ runLoop: RunLoop) throws {
            self.runLoop = runLoop
            socket = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
        }

        func run() async throws {
            try runLoop.add(socket, forMode: .default)
            for try await datagram in socket.datagrams() {
                socket.send(datagram.bytes, to: datagram.sender)
            }
        }

        func ask() throws {
            let client = try DatagramSocket(connectedTo: socket.localAddress)
            client.onReceive { client, bytes, _ in
                let bytes = [UInt8](bytes)
                self.assumeIsolated { $0.answers.append(bytes) }
            }
            try runLoop.add(client, forMode: .default)
            client.send([1, 2, 3])
        }

        func received() -> [[UInt8]] { answers }
        func stop() { socket.close() }
    }

    @Test func `a task answers`() async throws {
        let thread = try RunLoopThread(name: "echo")
        let echo = try Echo(thread.runLoop)
        async let run: Void = echo.run()
        try await echo.ask()
        while await echo.received().isEmpty { await Task.yield() }
        await echo.stop()
        try await run
        let answers = await echo.received()
        #expect(answers == [[1, 2, 3]])
        thread.stop()
        await thread.join()
    }

    @Test func `a socket joins a group, and shares its port`() throws {
        let port: UInt16 = 0
        var options = DatagramSocket.Options()
        options.reusesPort = true
        let socket = try DatagramSocket(.udp(port: port), options: options)
        try socket.joinGroup("239.255.0.1", interface: "lo")
        #expect(socket.isOpen)
    }
}

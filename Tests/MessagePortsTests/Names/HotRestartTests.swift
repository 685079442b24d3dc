import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A server is replaced by a successor three times while clients connect, and no connection is refused or lost.
@Suite struct HotRestartTests {
    @Test
    func `servers hand over their listening socket and half-served connections while clients connect`()
        throws
    {
        let stage = try RestartStage()
        let port = try stage.start(1)
        let counts = Log<Int>()
        let answers = Log<Answer>()
        // Each client has one connection with half a line sent, while the client uses others.
        let clients = try Threads(4) { number in
            for round in 0..<stage.rounds {
                let slow = try Client(port, "slow \(number) \(round)")
                let quick = try Client(port, "quick \(number) \(round)")
                answers.add(try quick.finish())
                counts.add(round)
                if round % 20 == 10 { stage.waitForRestart(round / 20) }
                answers.add(try slow.finish())
            }
        }
        for generation in 2...4 {
            waitUntil("all clients hold a connection half served") {
                counts.entries.count { $0 == (generation - 2) * 20 + 10 } == 4
            }
            #expect(try stage.start(generation) == port)
            stage.restarted(generation - 2)
        }
        try clients.join()
        let endings = try stage.end()

        let all = answers.entries
        #expect(all.count == 8 * stage.rounds)
        // The numbers of the lines are unique and without a gap, so the counter was handed over.
        #expect(all.map(\.number).sorted() == Array(1...8 * stage.rounds))
        #expect(all.allSatisfy { $0.text == $0.asked })
        #expect(Set(all.map(\.generation)) == [1, 2, 3, 4])
        // Lines that one server began to read were answered by the next server.
        #expect(all.contains { $0.asked == "slow 0 10" && $0.generation == 2 })
        #expect(endings.allSatisfy { $0.isSuccess }, "\(endings.map(\.message))")
        let served = endings.flatMap(\.lines).compactMap { Int($0.split(separator: " ").last ?? "") }
        #expect(served.reduce(0, +) == all.count && served.count == 4)
    }
}

extension HotRestartTests {
    @Test func `of several new servers at once, each takes over from the one before`() throws {
        let stage = try RestartStage()
        let port = try stage.start(1)
        for _ in 2...5 { try stage.begin() }
        #expect(try stage.ready(5) == port)
        let endings = try stage.end()
        #expect(endings.count == 5 && endings.allSatisfy { $0.isSuccess }, "\(endings.map(\.message))")
    }

    @Test func `a new server whose predecessor is killed while it asks is the first one`() throws {
        let stage = try RestartStage()
        // The predecessor ends when it is asked, and replies nothing.
        let old = try RunLoopThread(name: "old server")
        let port = try MessagePort(named: PortName("restart"), in: stage.names.names)
        try old.runLoop.performAndWait {
            try RunLoop.current.add(port, forMode: .common) { message in
                port.invalidate()
                withExtendedLifetime(message.id) {}
            }
        }
        _ = try stage.start(1)
        #expect(try stage.end().allSatisfy { $0.isSuccess })
        old.stop()
    }
}

private struct Answer: Sendable {
    let asked: String
    let generation: Int
    let number: Int
    let text: String
}

/// The servers of a test, one after another.
private final class RestartStage: Sendable {
    /// The number of pairs of connections for each client.
    let rounds = 64
    let names: OwnNames
    private let test: PortServer
    private let reports = Log<String>()
    private let endings = Log<Program.Ending>()
    private let processes = Log<Threads>()
    private let restarts = (0..<3).map { _ in Gate() }

    init() throws {
        names = try OwnNames()
        let reports = self.reports
        test = try PortServer(names) { message in reports.add(text(message)) }
    }

    /// Starts a server, and waits until it serves.
    ///
    /// - Returns: The port at which it listens.
    func start(_ generation: Int) throws -> UInt16 {
        try begin()
        return try ready(generation)
    }

    /// Starts a server.
    func begin() throws {
        let (names, endings) = (self.names, self.endings)
        processes.add(
            try Threads(1) { _ in endings.add(try Program("RestartServer").run(names.directory)) })
    }

    /// Waits until as many servers have begun to serve, one after another.
    ///
    /// - Returns: The port at which the last one listens.
    func ready(_ generation: Int) throws -> UInt16 {
        waitUntil("the server is ready") { self.reports.entries.count >= generation }
        let words = try #require(reports.entries.last).split(separator: " ").compactMap { Int($0) }
        #expect(words.first == generation)
        return UInt16(try #require(words.last))
    }

    func restarted(_ index: Int) { restarts[index].open() }

    func waitForRestart(_ index: Int) {
        if restarts.indices.contains(index) { #expect(restarts[index].wait()) }
    }

    /// Ends the last server, and waits for all servers.
    func end() throws -> [Program.Ending] {
        try RemotePort(named: PortName("restart"), in: names.names, before: .hang).send(id: 2)
        for process in processes.entries { try process.join() }
        return endings.entries
    }
}

/// A client's connection on which half a line has been sent.
private final class Client {
    private let socket: OwnedDescriptor
    private let line: String

    init(_ port: UInt16, _ line: String) throws {
        socket = OwnedDescriptor(try Loopback.connect(to: port))
        self.line = line
        try wait(POLLOUT)
        #expect(Loopback.error(of: socket.descriptor) == 0, "no client is refused")
        try write(line.prefix(3))
    }

    /// Sends the rest of the line, and waits for the answer.
    func finish() throws -> Answer {
        try write(line.dropFirst(3) + "\n")
        var text = ""
        while !text.hasSuffix("\n") {
            try wait(POLLIN)
            let bytes = try #require(try Loopback.read(socket.descriptor))
            try #require(!bytes.isEmpty, "no connection is lost")
            text += String(decoding: bytes, as: UTF8.self)
        }
        let words = text.dropLast().split(separator: " ", maxSplits: 2)
        return Answer(
            asked: line, generation: try #require(Int(words[0])), number: try #require(Int(words[1])),
            text: String(words[2]))
    }

    private func write(_ text: some StringProtocol) throws {
        let bytes = Array(text.utf8)
        let count = try Loopback.write(bytes, to: socket.descriptor)
        try #require(count == bytes.count)
    }

    private func wait(_ events: CInt) throws {
        var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
        // Safe: the kernel fills a local variable.
        let ready = unsafe poll(&entry, 1, 60_000)
        try #require(ready == 1)
    }
}

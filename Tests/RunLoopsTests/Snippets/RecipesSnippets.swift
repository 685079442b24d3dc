import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A server that sends back the received bytes.
private final class Server {
    private var listener: DescriptorSource?
    private var clients: [CInt: Client] = [:]
    private var onDone: (() -> Void)?

    func start(on listening: CInt) throws {
        // Owns the socket from here on, even if adding the source fails.
        let source = DescriptorSource(listening, interest: .read, closesDescriptor: true) {
            [unowned self] source, _ in acceptClients(from: source)
        }
        listener = source
        try RunLoop.current.add(source, forMode: .common)
    }

    private func acceptClients(from source: DescriptorSource) {
        // A few in each pass: the other inputs of the loop have their turn in between.
        for _ in 0..<16 {
            let socket = accept(source.descriptor, nil, nil)
            if socket < 0 {
                if errno == EMFILE || errno == ENFILE { pause(source) }
                return
            }
            do {
                clients[socket] = try Client(socket) { [unowned self] in
                    clients[socket] = nil
                    endIfDone()
                }
            } catch {
                print("cannot serve a client:", error)
            }
        }
    }

    private func pause(_ source: DescriptorSource) {
        let loop = RunLoop.current
        loop.remove(source, forMode: .common)
        let retry = Timer(timeInterval: .milliseconds(100), repeats: false) { [weak self] _ in
            do { try loop.add(source, forMode: .common) } catch { self?.pause(source) }
        }
        loop.add(retry, forMode: .common)
    }

    func stop(whenDone: @escaping () -> Void) {
        listener?.invalidate()
        listener = nil
        onDone = whenDone
        endIfDone()
    }

    private func endIfDone() {
        if clients.isEmpty { onDone?() }
    }
}

/// A connection of the server, which either reads or writes.
///
/// While a client does not accept its answers, the server reads nothing from it.
private final class Client {
    private let socket: CInt
    private let onEnd: () -> Void
    private var unsent: [UInt8] = []
    private lazy var reading = DescriptorSource(socket, interest: .read, closesDescriptor: true) {
        [unowned self] _, _ in receive()
    }
    private lazy var writing = DescriptorSource(socket, interest: .write) { [unowned self] _, _ in flush() }

    init(_ socket: CInt, onEnd: @escaping () -> Void) throws {
        self.socket = socket
        self.onEnd = onEnd
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        try RunLoop.current.add(reading, forMode: .common)
    }

    private func receive() {
        var buffer: [UInt8] = Array(repeating: 0, count: 16_384)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count > 0 {
            unsent += buffer.prefix(count)
            flush()
        } else if count == 0 || errno != EAGAIN {
            end()
        }
    }

    private func flush() {
        let count = unsafe send(socket, unsent, unsent.count, CInt(MSG_NOSIGNAL))
        if count < 0 && errno != EAGAIN { return end() }
        unsent.removeFirst(max(count, 0))
        let (now, later) = unsent.isEmpty ? (reading, writing) : (writing, reading)
        RunLoop.current.remove(later, forMode: .common)
        do {
            try RunLoop.current.add(now, forMode: .common)
        } catch {
            print("cannot serve a client:", error)
            end()
        }
    }

    private func end() {
        writing.invalidate()
        reading.invalidate()
        onEnd()
    }
}

/// The program of the article.
private func serve(on listening: CInt) throws {
    let server = Server()
    try server.start(on: listening)

    let stop = try GracefulStop(deadline: .seconds(10)) { stop in
        server.stop { stop.finish() }
    }
    try RunLoop.current.add(stop, forMode: .common)
    RunLoop.current.run()
}

/// Connects in the current loop and sends bytes, and logs the number of received bytes when all have come back.
private func exchange(with port: UInt16, sending count: Int, _ log: Log<Int>) throws {
    let sent = [UInt8]((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })
    var received: [UInt8] = []
    let socket = try Loopback.connect(to: port)
    _ = try Connection(socket, isConnected: false, in: .current, mode: .default) { connection, event in
        switch event {
        case .connected: connection.send(sent)
        case .received(let bytes):
            received += bytes
            if received.count == count {
                #expect(received == sent)
                log.add(count)
                connection.close()
            }
        case .ended, .failed: Issue.record("the server has ended a connection: \(event)")
        }
    }
}

/// The code of the article "Recipes".
@Suite struct RecipesSnippets {
    @Test func `a server sends everything back to each client, ends on SIGTERM, and accepts no more`() async {
        await #expect(processExitsWith: .success) {
            let (listening, port) = try Loopback.listen()
            let served = Log<Int>()
            try onLoopThread { _ in
                for count in [1, 1_000, 1_000_000] { try exchange(with: port, sending: count, served) }
                let finish = Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                    if served.entries.count < 3 { return }
                    timer.invalidate()
                    Signals.send(SIGTERM)
                }
                RunLoop.current.add(finish, forMode: .default)
                try serve(on: listening)
                #expect(fcntl(listening, F_GETFD) == -1)
            }
            #expect(Set(served.entries) == [1, 1_000, 1_000_000])
        }
    }

    @Test func `a server without descriptors pauses, and accepts when there are some again`() async {
        await #expect(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            let (listening, port) = try Loopback.listen()
            let served = Log<Int>()
            try onLoopThread { loop in
                let server = Server()
                try server.start(on: listening)
                try exchange(with: port, sending: 10, served)
                let free = dup(listening)
                close(free)
                try limitDescriptors(to: Int(free))
                fillDescriptors(below: Int(free))
                let passes = loop.statistics.passes
                loop.run(until: .now + .milliseconds(250))
                #expect(served.entries.isEmpty)
                #expect(loop.statistics.passes - passes < 30)
                try refuseNoDescriptors(from: bound)
                let look = Timer(timeInterval: .milliseconds(1), repeats: true) { _ in
                    if !served.entries.isEmpty { loop.stop() }
                }
                loop.add(look, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                var isDone = false
                server.stop { isDone = true }
                while !isDone { loop.run(until: .now + .milliseconds(1)) }
            }
            #expect(served.entries == [10])
        }
    }

    private struct Job: Sendable {}

    @Test func `a job that finds a full port is refused, and not waited for`() throws {
        let jobs = Port<Job>(queueLimit: 64)

        func submit(_ job: Job) throws -> Bool {
            do {
                try jobs.send(job, before: .distantPast)
                return true
            } catch let error where error.reason == .timedOut {
                return false
            }
        }

        for _ in 0..<64 { #expect(try submit(Job())) }
        #expect(try !submit(Job()))
        jobs.invalidate()
        #expect(throws: PortSendError<Job>.self) { try submit(Job()) }
    }
}

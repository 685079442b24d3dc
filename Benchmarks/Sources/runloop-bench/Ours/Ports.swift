internal import Glibc
internal import MessagePorts
internal import RunLoops

/// Requests: messages with a reply right to a parked loop, whose handler replies at once.
///
/// Read the ratio of the request from a loop's thread to raw first. Each of these requests is checked for circular waits.
final class RequestPingPong: PingPong {
    /// The kind of sender.
    enum Requester {
        case loop, plainThread, actor, pool
    }

    private struct Question: Sendable {
        let value: Int
        let reply: ReplyRight<Int>
    }

    private let requester: Requester
    private let near: RunLoopThread
    private let far: RunLoopThread
    private let plain = WorkerThread()
    private let asker: Asker
    private let questions = Port<Question>()
    private let timer: RoundTripTimer
    private let numbers: (near: ThreadNumber, far: ThreadNumber)

    /// Starts the threads of both sides.
    init(from requester: Requester, timer: RoundTripTimer) throws {
        self.requester = requester
        self.timer = timer
        near = try RunLoopThread(name: "near")
        far = try RunLoopThread(name: "far")
        asker = Asker(on: near.runLoop)
        let questions = questions
        numbers.near = try near.prepare(.park)
        numbers.far = try far.prepare(.park) {
            RunLoop.current.add(questions, forMode: .default) { question in
                question.reply.reply(question.value &+ 1)
            }
        }
    }

    var nearThreads: [ThreadNumber] {
        switch requester {
        case .loop, .actor: [numbers.near]
        case .plainThread: [plain.number]
        case .pool: []
        }
    }

    var farThreads: [ThreadNumber] { [numbers.far] }

    func start() {
        let (questions, timer, asker) = (questions, timer, asker)
        switch requester {
        case .loop: near.runLoop.perform { Self.ask(questions, timer) }
        case .plainThread: plain.run { Self.ask(questions, timer) }
        case .actor: Task { await asker.ask(questions, timer) }
        case .pool: Task { await RequestPingPong.awaitAnswersOnPool(questions, timer) }
        }
    }

    private static func ask(_ questions: Port<Question>, _ timer: RoundTripTimer) {
        timer.begin()
        do throws(RequestError) {
            var value = 0
            repeat {
                value = try questions.request { [value] in Question(value: value, reply: $0) }
            } while timer.answered()
        } catch {
            timer.fail("Port.request: \(error)")
        }
    }

    /// Runs on the executor of the caller.
    nonisolated(nonsending) private static func awaitAnswers(
        _ questions: Port<Question>, _ timer: RoundTripTimer
    ) async {
        timer.begin()
        do throws(RequestError) {
            var value = 0
            repeat {
                value = try await questions.request { [value] in Question(value: value, reply: $0) }
            } while timer.answered()
        } catch {
            timer.fail("Port.request: \(error)")
        }
    }

    @concurrent private static func awaitAnswersOnPool(_ questions: Port<Question>, _ timer: RoundTripTimer)
        async
    {
        await awaitAnswers(questions, timer)
    }

    /// An actor on the loop of the near side.
    private actor Asker {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(on loop: RunLoop) { self.loop = loop }

        func ask(_ questions: Port<Question>, _ timer: RoundTripTimer) async {
            await RequestPingPong.awaitAnswers(questions, timer)
        }
    }
}

/// Port sets: two threads without loops, each asleep in a set of two ports, one of which is never used.
///
/// Read the ratio to raw: the cost of a wake-up for a thread that cannot watch descriptors.
final class PortSetPingPong: PingPong {
    private let near = WorkerThread()
    private let far = WorkerThread()
    private let nearPort = Port<Int>()
    private let farPort = Port<Int>()
    private let nearSet = PortSet<Int>()
    private let timer: RoundTripTimer

    init(timer: RoundTripTimer) {
        self.timer = timer
        nearSet.add(nearPort)
        nearSet.add(Port<Void>()) { 0 }
        far.run { [nearPort, farPort] in
            let farSet = PortSet<Int>()
            farSet.add(farPort)
            farSet.add(Port<Void>()) { 0 }
            // Lasts as long as the program. After an error, the other side detects the missing answer.
            do { while true { try nearPort.send(farSet.receive()) } } catch {}
        }
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [nearSet, farPort, timer] in
            timer.begin()
            do {
                var value = 0
                repeat {
                    try farPort.send(value)
                    value = try nearSet.receive() &+ 1
                } while timer.answered()
            } catch {
                timer.fail("PortSet.receive: \(error)")
            }
        }
    }
}

/// A port set: one thread without a loop takes the messages of one port, one at a time.
final class PortSetChannel: MessageChannel {
    private let port: Port<Int>
    private let consumer = WorkerThread()

    init(_ port: Port<Int>, sink: Sink) {
        self.port = port
        consumer.run { [port] in
            let set = PortSet<Int>()
            set.add(port)
            // Lasts as long as the program. After an error, the runner detects the missing messages.
            do { while true { sink.receive(try set.receive()) } } catch {}
        }
    }

    var consumerThreads: [ThreadNumber] { [consumer.number] }

    func send(_ count: Int, from start: Int, producer: Int) throws -> Int {
        for value in start..<start + count { try port.send(value) }
        return sum(count, from: start)
    }
}

/// A port between processes: a thread sends requests, and a parked loop replies.
///
/// Compare the round trip with that of the bare pair first: the difference is the cost of names, rights, headers and the loop.
final class PortPacketPair: PacketPair {
    private let near = WorkerThread()
    private let far: ChildProcess
    private let remote: RemotePort
    private let timer: RoundTripTimer
    private static let message = [UInt8](repeating: 1, count: 64)

    /// Starts the other process, and waits until it serves.
    init(timer: RoundTripTimer) throws {
        self.timer = timer
        let name = "@runloop-bench-\(getpid())"
        far = try ChildProcess(["serve-packets", "--port", name])
        remote = try Self.connect(to: PortName(name))
    }

    deinit {
        remote.invalidate()
        far.wait()
    }

    private static func connect(to name: PortName) throws -> RemotePort {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do { return try RemotePort(named: name, before: deadline) } catch {
                if error.nameError?.reason != .unknown || ContinuousClock.now > deadline { throw error }
                usleep(1_000)
            }
        }
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [remote, timer] in
            timer.begin()
            do throws(MessagePortError) {
                repeat { _ = try remote.request(Self.message) } while timer.answered()
            } catch {
                timer.fail("RemotePort.request: \(error)")
            }
        }
    }

    func stream(_ count: Int) throws -> Int {
        for _ in 0..<count { try remote.send(Self.message) }
        let reply = try remote.request(Self.message)
        return reply.withBytes { bytes in bytes.unsafeLoad(as: Int.self) }
    }
}

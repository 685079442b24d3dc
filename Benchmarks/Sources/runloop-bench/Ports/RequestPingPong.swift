internal import RunLoops

/// Isolates a request: a message with a right to reply to a parked loop, whose handler answers at once.
///
/// Read the ratio to raw of the one from a loop's thread first: it is looked at for circles each time.
final class RequestPingPong: PingPong {
    /// Who asks.
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
    private let rally: Rally
    private let numbers: (near: ThreadNumber, far: ThreadNumber)

    /// Starts both sides' threads.
    init(from requester: Requester, rally: Rally) throws {
        self.requester = requester
        self.rally = rally
        near = try RunLoopThread(name: "near")
        far = try RunLoopThread(name: "far")
        asker = Asker(on: near.runLoop)
        let questions = questions
        numbers.near = try near.runLoop.performAndWait {
            RunLoop.current.waitPolicy = .park
            return ThreadNumber.current
        }
        numbers.far = try far.runLoop.performAndWait {
            RunLoop.current.waitPolicy = .park
            RunLoop.current.add(questions, forMode: .default) { question in
                question.reply.send(question.value &+ 1)
            }
            return ThreadNumber.current
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
        let (questions, rally, asker) = (questions, rally, asker)
        switch requester {
        case .loop: near.runLoop.perform { Self.ask(questions, rally) }
        case .plainThread: plain.run { Self.ask(questions, rally) }
        case .actor: Task { await asker.ask(questions, rally) }
        case .pool: Task { await RequestPingPong.awaitAnswersOnPool(questions, rally) }
        }
    }

    private static func ask(_ questions: Port<Question>, _ rally: Rally) {
        rally.begin()
        do throws(RequestError) {
            var value = 0
            repeat {
                value = try questions.request { [value] in Question(value: value, reply: $0) }
            } while rally.returned()
        } catch {
            rally.fail("Port.request: \(error)")
        }
    }

    /// Stays where its caller is.
    nonisolated(nonsending) private static func awaitAnswers(
        _ questions: Port<Question>, _ rally: Rally
    ) async {
        rally.begin()
        do throws(RequestError) {
            var value = 0
            repeat {
                value = try await questions.request { [value] in Question(value: value, reply: $0) }
            } while rally.returned()
        } catch {
            rally.fail("Port.request: \(error)")
        }
    }

    @concurrent private static func awaitAnswersOnPool(_ questions: Port<Question>, _ rally: Rally) async {
        await awaitAnswers(questions, rally)
    }

    /// An actor on the near side's loop.
    private actor Asker {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(on loop: RunLoop) { self.loop = loop }

        func ask(_ questions: Port<Question>, _ rally: Rally) async {
            await RequestPingPong.awaitAnswers(questions, rally)
        }
    }
}

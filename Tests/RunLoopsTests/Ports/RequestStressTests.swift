import TestSupport
import Testing

@testable import RunLoops

/// Answers, unused rights, deadlines, cancellations and the port's end coincide, and each request has one outcome.
@Suite struct RequestStressTests {
    // Guarantees: A request is answered, or an error says why not: exactly one of the two.
    @Test(arguments: 0..<12) func `every request has one outcome, and every answer is given or counted`(
        seed: UInt64
    ) async throws {
        let port = Port<Question<Int>>(queueLimit: PortQueueLimit(1 + Int(seed % 4)))
        let receiver = try RunLoopThread(name: "receiver")
        let given = Shared()
        let late = Shared()
        try await receiver.runLoop.performAndWait {
            var kept: [ReplyRight<Int>] = []
            RunLoop.current.add(port, forMode: .common) { question in
                switch question.number % 5 {
                case 0: break
                case 1: kept.append(question.reply)
                default: (question.reply.reply(question.number) ? given : late).increment()
                }
                if kept.count == 8 {
                    for right in kept.prefix(4) { (right.reply(-1) ? given : late).increment() }
                    kept.removeAll()
                }
            }
        }
        let answers = Shared()
        let outcomes = Shared()
        @Sendable func count(_ number: Int, _ outcome: Result<Int, RequestError>) {
            outcomes.increment()
            switch outcome {
            case .success(let answer):
                #expect(answer == number || answer == -1)
                answers.increment()
            case .failure(let error): if error.reason == .wouldDeadlock { Issue.record(error) }
            }
        }
        let blocking = try Threads(2) { thread in
            var random = SplitMix64(seed: seed &* 10 &+ UInt64(thread))
            for _ in 0..<150 {
                let number = Int.random(in: 0..<1_000, using: &random)
                let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0..<2_000, using: &random))
                count(
                    number,
                    Result { () throws(RequestError) in
                        try port.request(before: deadline) { Question(number: number, reply: $0) }
                    })
            }
        }
        await withTaskGroup(of: Void.self) { group in
            var random = SplitMix64(seed: seed &+ 1_000)
            for _ in 0..<150 {
                let number = Int.random(in: 0..<1_000, using: &random)
                let cancels = Bool.random(using: &random)
                let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0..<5_000, using: &random))
                group.addTask {
                    let task = Task {
                        do throws(RequestError) {
                            count(
                                number,
                                .success(
                                    try await port.request(before: deadline) {
                                        Question(number: number, reply: $0)
                                    }))
                        } catch {
                            count(number, .failure(error))
                        }
                    }
                    if cancels { task.cancel() }
                    await task.value
                }
            }
            if seed % 3 == 0 { port.invalidate() }
        }
        try blocking.join()
        port.invalidate()
        receiver.stop()
        await receiver.join()
        #expect(outcomes.count == 450)
        #expect(answers.count == given.count)
        #expect(port.lateReplyCount == late.count)
        #expect(waitingSenders(at: port) == 0)
    }
}

import RunLoops
import Synchronization
import TestSupport
import Testing

/// The code of the article "Ports".
@Suite struct PortsSnippets {
    private let print = Printed()

    @Test func `a worker serves until its last client has gone`() throws {
        let worker = try RunLoopThread(name: "worker")
        defer {
            worker.stop()
            worker.join()
        }
        let ended = Gate()
        func order() throws {
            let orders = Port<String>()
            worker.runLoop.perform {
                RunLoop.current.add(orders, forMode: .common) { order in print("done:", order) }
                orders.onNoSenders {
                    print("nobody orders any more")
                    orders.invalidate()
                }
            }
            let client = orders.makeSendRight()
            try client.send("tea")
            try client.send("toast")
            try worker.runLoop.performAndWait { orders.onInvalidation { ended.open() } }
        }
        try order()
        #expect(ended.wait())
        #expect(print.lines == ["done: tea", "done: toast", "nobody orders any more"])
    }

    final class Question: Sendable {
        let text: String
        private let right: Mutex<SendOnceRight<String>?>

        init(_ text: String, _ right: consuming SendOnceRight<String>) {
            self.text = text
            self.right = Mutex(right)
        }

        func answer(_ answer: String) throws {
            guard let right = right.withLock({ right in right.take() }) else { return }
            try right.send(answer)
        }
    }

    @Test(arguments: [true, false]) func `a question is answered, or is known not to be`(isKnown: Bool) throws
    {
        let questions = Port<Question>()
        let worker = try RunLoopThread(name: "worker")
        defer {
            worker.stop()
            worker.join()
        }
        worker.runLoop.perform {
            RunLoop.current.add(questions, forMode: .common) { question in
                do { if isKnown { try question.answer("\(question.text): 7") } } catch { Issue.record(error) }
            }
        }
        try onLoopThread { _ in
            let answers = Port<String>()
            RunLoop.current.add(answers, forMode: .default) { answer in
                print(answer)
                RunLoop.current.stop()
            }
            try questions.send(Question("how much", answers.makeSendOnceRight(ifUnused: "no answer")))
            RunLoop.current.run()
        }
        #expect(print.lines == [isKnown ? "how much: 7" : "no answer"])
    }
}

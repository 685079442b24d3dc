import RunLoops
import TestExpectations
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
                orders.onNoSenders { _ in
                    print("nobody orders any more")
                    orders.invalidate()
                }
            }
            let client = orders.makeSendRight()
            try client.send("tea")
            try client.send("toast")
            try worker.runLoop.performAndWait { orders.addInvalidationHandler { ended.open() } }
        }
        try order()
        #expect(ended.wait())
        #expect(print.lines == ["done: tea", "done: toast", "nobody orders any more"])
    }

    /// The object that the handler of the article pauses.
    private final class Producer {
        private(set) var kept: [String] = []
        private(set) var isPaused = false
        private let onResume: () -> Void

        init(onResume: @escaping () -> Void) { self.onResume = onResume }

        func pause(keeping order: String) {
            isPaused = true
            kept.append(order)
        }

        func resume() {
            isPaused = false
            onResume()
        }
    }

    @Test func `a handler pauses what it reads from while the port is full, and a task receives`()
        async throws
    {
        let orders = Port<String>(queueLimit: 1)
        let worker = try RunLoopThread(name: "worker")
        defer { worker.stop() }
        let resumed = Gate()
        try await worker.runLoop.performAndWait {
            let source = Producer { resumed.open() }
            func forward(_ order: String) {
                do {
                    try orders.send(order, before: .distantPast)
                } catch {
                    source.pause(keeping: order)
                    orders.addRoomHandler { source.resume() }
                }
            }
            forward("tea")
            #expect(!source.isPaused)
            forward("toast")
            #expect(source.isPaused && source.kept == ["toast"])
        }
        let served = Log<String>()
        func serve(_ order: String) async {
            served.add(order)
            if served.entries.count == 2 { orders.invalidate() }
        }
        let sending = Task { try await orders.send("jam") }
        await yieldUntil("the task waits") { waitingSenders(at: orders) == 2 }
        for await order in orders.messages { await serve(order) }
        try await sending.value
        #expect(served.entries == ["tea", "jam"])
        #expect(resumed.wait())
    }

    @Test(arguments: [true, false]) func `a question is answered, or is known not to be`(isKnown: Bool) throws
    {
        @Sendable func ask(_ question: String, _ answer: consuming SendOnceRight<String>) {
            do { if isKnown { try answer.send("\(question): 7") } } catch { Issue.record(error) }
        }
        try onLoopThread { _ in
            let answers = Port<String>()
            RunLoop.current.add(answers, forMode: .default) { answer in
                print(answer)
                RunLoop.current.stop()
            }
            ask("how much", answers.makeSendOnceRight(ifUnused: "no answer"))
            RunLoop.current.run()
        }
        #expect(print.lines == [isKnown ? "how much: 7" : "no answer"])
    }

    @Test func `a request returns its answer, or throws why there is none`() async throws {
        let prices = ["tea": 3]
        let shop = try RunLoopThread(name: "shop")
        defer { shop.stop() }

        struct Question: Sendable {
            let item: String
            let asker: ReplyRight<Int>
        }

        let questions = Port<Question>()
        shop.runLoop.perform {
            RunLoop.current.add(questions, forMode: .common) { question in
                if let price = prices[question.item] { question.asker.reply(price) }
            }
        }

        func ask() throws -> Int {
            let price = try questions.request { Question(item: "tea", asker: $0) }
            return price
        }
        #expect(try ask() == 3)
        let price = try await questions.request(before: .now + .seconds(5)) {
            Question(item: "tea", asker: $0)
        }
        #expect(price == 3)
        await #expect(throws: RequestError(.noReply)) {
            _ = try await questions.request { Question(item: "coffee", asker: $0) }
        }
    }

    @Test func `a thread without a loop receives what comes first`() throws {
        let orders = Port<String>()
        let alarms = Port<Void>()
        try orders.send("tea")
        try alarms.send()
        let customer = try Threads(1) { [print] _ in
            waitUntil("all is done") { print.lines.count == 2 }
            orders.invalidate()
        }
        try serve(orders, alarms)
        try customer.join()
        #expect(print.lines == ["done: tea", "alarm"])
    }

    private func serve(_ orders: Port<String>, _ alarms: Port<Void>) throws {
        enum Event: Sendable {
            case order(String), alarm, closed
        }

        let events = PortSet<Event>()
        events.add(orders, atEnd: .closed) { .order($0) }
        events.add(alarms) { .alarm }
        while true {
            switch try events.receive() {
            case .order(let order): print("done:", order)
            case .alarm: print("alarm")
            case .closed: return
            }
        }
    }
}

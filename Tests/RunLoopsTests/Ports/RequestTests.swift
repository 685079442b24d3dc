import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The message of a requester.
struct Question<Answer: Sendable>: Sendable {
    var number = 0
    let reply: ReplyRight<Answer>
}

/// Requests that block, each of which ends with an answer or an error.
@Suite struct RequestTests {
    /// Starts a thread whose loop has a port for questions.
    private func withReceiver(
        limit: PortQueueLimit = 1024, _ handler: @escaping @Sendable (Question<Int>) -> Void,
        _ body: (Port<Question<Int>>, RunLoop) throws -> Void
    ) throws {
        let port = Port<Question<Int>>(queueLimit: limit)
        let receiver = try RunLoopThread(name: "receiver")
        defer {
            receiver.stop()
            receiver.join()
        }
        receiver.runLoop.perform { RunLoop.current.add(port, forMode: .common, handler: handler) }
        try receiver.runLoop.performAndWait {}
        try body(port, receiver.runLoop)
    }

    /// The error of a request, or nil if it is answered.
    private func failure(_ request: () throws -> Void) -> RequestError.Reason? {
        do { try request() } catch let error as RequestError { return error.reason } catch {
            Issue.record(error)
        }
        return nil
    }

    @Test func `the answer reaches the requester`() throws {
        try withReceiver({ $0.reply.reply($0.number * 2) }) { port, _ throws in
            for number in 0..<500 {
                #expect(try port.request { Question(number: number, reply: $0) } == number * 2)
            }
            #expect(port.lateReplyCount == 0)
        }
    }

    @Test func `several threads ask at the same time, and each gets its own answer`() throws {
        try withReceiver(limit: 2, { $0.reply.reply(-$0.number) }) { port, _ in
            let threads = try Threads(4) { thread throws in
                for number in 0..<300 {
                    let asked = thread * 1_000 + number
                    #expect(try port.request { Question(number: asked, reply: $0) } == -asked)
                }
            }
            try threads.join()
        }
    }

    @Test func `an answer may be given later, and on another thread`() throws {
        let answerer = try RunLoopThread(name: "answerer")
        try withReceiver({ question in
            answerer.runLoop.perform { question.reply.reply(7) }
        }) { port, _ throws in
            #expect(try port.request { Question(reply: $0) } == 7)
        }
        answerer.stop()
    }

    @Test func `a request fails with noReply when the last copy of its right is released unused`() throws {
        let kept = Log<Question<Int>>()
        try withReceiver({ question in if question.number == 1 { kept.add(question) } }) { port, _ in
            #expect(failure { _ = try port.request { Question(number: 0, reply: $0) } } == .noReply)
            let asking = try Threads(1) { _ throws in
                #expect(try port.request { Question(number: 1, reply: $0) } == 5)
            }
            waitUntil("the question has come") { kept.entries.count == 1 }
            #expect(kept.entries[0].reply.isAwaited)
            #expect(kept.entries[0].reply.reply(5))
            #expect(!kept.entries[0].reply.isAwaited)
            try asking.join()
        }
    }

    @Test func `a message that is made without its right has no answer`() throws {
        let port = Port<Int>()
        #expect(failure { _ = try port.request { (_: ReplyRight<Int>) in 1 } } == .noReply)
        let signals = Port<Void>()
        #expect(failure { _ = try signals.request { (_: ReplyRight<Int>) in } } == .noReply)
    }

    @Test func `a deadline ends the wait, not before, and the late answer is dropped and counted`() throws {
        let alive = Shared()
        let port = Port<Question<Counted>>()
        let sent = Shared()
        while sent.count == 0 {
            let deadline = ContinuousClock.now + .milliseconds(10)
            let failure = failure {
                _ = try port.request(before: deadline) {
                    sent.increment()
                    return Question(reply: $0)
                }
            }
            #expect(failure == .timedOut)
            #expect(ContinuousClock.now >= deadline)
        }
        try onLoopThread { loop in
            var served = 0
            loop.add(port, forMode: .default) { question in
                #expect(!question.reply.isAwaited)
                #expect(!question.reply.reply(Counted(alive)))
                #expect(alive.count == 0)
                served += 1
            }
            loop.settle()
            #expect(served == 1)
        }
        #expect(port.lateReplyCount == 1)
        #expect(port.makeSendRight().lateReplyCount == 1)
    }

    @Test func `a right that is released after the request has ended counts as no answer`() throws {
        let port = Port<Question<Int>>()
        #expect(
            failure { _ = try port.request(before: .now + .milliseconds(1)) { Question(reply: $0) } }
                == .timedOut)
        port.invalidate()
        #expect(port.lateReplyCount == 0)
    }

    @Test func `with a deadline that has passed nothing is sent`() throws {
        let port = Port<Question<Int>>()
        for deadline in [.distantPast, .now] as [ContinuousClock.Instant] {
            let error = failure {
                _ = try port.request(before: deadline) { reply -> Question<Int> in
                    Issue.record("there is nobody to answer")
                    return Question(reply: reply)
                }
            }
            #expect(error == .timedOut)
        }
        port.invalidate()
        #expect(failure { _ = try port.request(before: .distantPast) { Question(reply: $0) } } == .invalid)
        #expect(failure { _ = try port.request { Question(reply: $0) } } == .invalid)
    }

    @Test func `the end of the port ends requests whose message is queued, or in line`() throws {
        let port = Port<Question<Int>>(queueLimit: 2)
        let asking = try Threads(6) { _ in
            #expect(failure { _ = try port.request { Question(reply: $0) } } == .invalid)
        }
        waitUntilSendersWait(4, at: port)
        port.invalidate()
        try asking.join()
    }

    @Test func `the last reference to a port ends it for a requester with a right`() throws {
        let gone = Gate()
        func ask() throws -> Threads {
            let port = Port<Question<Int>>()
            let right = port.makeSendRight()
            let asking = try Threads(1) { _ in
                #expect(failure { _ = try right.request { Question(reply: $0) } } == .invalid)
                gone.open()
            }
            waitUntil("the question is queued") { port.core.queue.mailbox.current.node != nil }
            return asking
        }
        let asking = try ask()
        #expect(gone.wait())
        try asking.join()
    }

    @Test func `a right that is held when the port ends may be used still`() throws {
        let held = Log<ReplyRight<Int>>()
        try withReceiver({ held.add($0.reply) }) { port, loop in
            let asking = try Threads(2) { thread throws in
                if thread == 0 {
                    #expect(try port.request { Question(reply: $0) } == 3)
                } else {
                    waitUntil("the first question has come") { held.entries.count == 1 }
                    #expect(failure { _ = try port.request { Question(reply: $0) } } == .invalid)
                }
            }
            waitUntil("both have come") { held.entries.count == 2 }
            port.invalidate()
            #expect(held.entries[0].reply(3))
            held.removeAll()
            try asking.join()
        }
    }

    @Test func `messages in line for a full port are queued in turn with others`() throws {
        let port = Port<Question<Int>>(queueLimit: 1)
        var asking: [Threads] = []
        for number in 0..<5 {
            asking.append(
                try Threads(1) { _ throws in
                    #expect(try port.request { Question(number: number, reply: $0) } == number)
                })
            if number > 0 {
                waitUntilSendersWait(number, at: port)
            } else {
                waitUntil("the first is queued") { port.core.queue.mailbox.current.node != nil }
            }
        }
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { question in
                received.append(question.number)
                question.reply.reply(question.number)
                if question.number == 4 { loop.stop() }
            }
            loop.run(in: .default, until: .hang)
            #expect(received == [0, 1, 2, 3, 4])
        }
        for thread in asking { try thread.join() }
    }

    @Test func `a request that gives up in the line leaves it, and its message is destroyed`() throws {
        let alive = Shared()
        let port = Port<(Counted, ReplyRight<Int>)>(queueLimit: 1)
        // Repeated until a request is sent before its deadline.
        while alive.count == 0 {
            #expect(
                failure { _ = try port.request(before: .now + .milliseconds(1)) { (Counted(alive), $0) } }
                    == .timedOut)
        }
        #expect(alive.count == 1)
        #expect(
            failure { _ = try port.request(before: .now + .milliseconds(1)) { (Counted(alive), $0) } }
                == .timedOut)
        #expect(alive.count == 1)
        #expect(waitingSenders(at: port) == 0)
        try onLoopThread { loop in
            var served = 0
            loop.add(port, forMode: .default) { _ in served += 1 }
            loop.settle()
            #expect(served == 1)
        }
        #expect(alive.count == 0)
    }

    @Test func `a send right is there until its request is over`() throws {
        let port = Port<Question<Int>>()
        let asking = try Threads(1) { _ throws in
            #expect(try port.makeSendRight().request { Question(reply: $0) } == 1)
        }
        try onLoopThread { loop in
            var events: [String] = []
            loop.add(port, forMode: .default) { question in
                #expect(port.sendRightCount == 1)
                events.append("question")
                question.reply.reply(1)
            }
            loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
            port.onNoSenders { _ in
                events.append("no senders")
                loop.stop()
            }
            loop.run(in: .default, until: .hang)
            #expect(events == ["question", "no senders"])
        }
        try asking.join()
    }

    @Test func `answering twice ends the program, with the place of the request`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { _ in
                let rights = Log<ReplyRight<Int>>()
                let port = Port<Question<Int>>()
                // Repeated until a request is sent before its deadline.
                while rights.entries.isEmpty {
                    #expect(throws: RequestError(.timedOut)) {
                        let deadline = ContinuousClock.now + .milliseconds(1)
                        _ = try port.request(before: deadline, fileID: "Here/There.swift", line: 7) { reply in
                            rights.add(reply)
                            return Question(reply: reply)
                        }
                    }
                }
                rights.entries[0].reply(1)
                rights.entries[0].reply(2)
            }
        }
        #expect(
            try #require(result).message.contains(
                "ReplyRight.reply: the request made at Here/There.swift:7 was answered before; answer each one once"
            ))
    }

    @Test func `an answer may be anything that can be sent`() throws {
        let port = Port<ReplyRight<Void>>()
        let receiver = try RunLoopThread(name: "receiver")
        receiver.runLoop.perform { RunLoop.current.add(port, forMode: .common) { $0.reply() } }
        let _: Void = try port.request { $0 }
        receiver.stop()
    }

    /// The uses of a port that end a forked child.
    enum ForkedUse: String, Codable, CaseIterable {
        case request = "Port.request"
        case answer = "ReplyRight.reply"
        case add = "PortSet.add"
        case receive = "PortSet.receive"
    }

    @Test(arguments: ForkedUse.allCases) func `using a port in a forked child ends it with a message`(
        use: ForkedUse
    )
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [use] in
            let ending = try onLoopThread { _ in
                let (port, set) = (Port<Question<Int>>(), PortSet<Int>())
                let right = ReplyRight<Int>(OneShot(), port.core, SourceLocation(#fileID, #line))
                return Child {
                    do {
                        switch use {
                        case .request: _ = try port.request { Question(reply: $0) }
                        case .answer: right.reply(1)
                        case .add: set.add(port) { _ in 1 }
                        case .receive: _ = try set.receive(before: .distantPast)
                        }
                    } catch {}
                    return 0
                }.wait()
            }
            if case .killed = ending {} else { Issue.record("the child ends in another way") }
        }
        #expect(try #require(result).message.contains("\(use.rawValue): used in a forked child"))
    }
}

import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Requests that would never be answered, because the receiver waits for the requester.
@Suite struct RequestCircleTests {
    @Test func `a request on the receiver's own thread is refused, and nothing is sent`() throws {
        try onLoopThread { loop in
            let port = Port<Question<Int>>()
            loop.add(port, forMode: .default) { _ in Issue.record("nothing was sent") }
            for deadline in [nil, .now + .seconds(60)] as [ContinuousClock.Instant?] {
                #expect(throws: RequestError(.wouldDeadlock)) {
                    _ = try port.request(before: deadline) { Question(reply: $0) }
                }
            }
            loop.settle()
        }
    }

    @Test
    func `a request to a receiver that waits for the requester is refused, and the error names the circle`()
        throws
    {
        let requester = try RunLoopThread(name: "requester")
        try onLoopThread { loop in
            let port = Port<Question<Int>>()
            loop.add(port, forMode: .default) { _ in Issue.record("nothing was sent") }
            let circle = try requester.runLoop.performAndWait { () -> WaitCircle? in
                do throws(RequestError) { _ = try port.request { Question(reply: $0) } } catch {
                    return error.circle
                }
                return nil
            }
            #expect(circle?.waits.map(\.operation) == ["Port.request", "RunLoop.performAndWait"])
            #expect(circle?.waits.map(\.fileID) == [#fileID, #fileID])
            loop.settle()
        }
        requester.stop()
    }

    @Test func `a receiver that would wait for its requester is refused, and answers then`() throws {
        let requester = try RunLoopThread(name: "requester")
        try onLoopThread { loop in
            let port = Port<Question<Int>>()
            let answer = Log<Int>()
            loop.add(port, forMode: .default) { question in
                let circle = refusal { try requester.runLoop.performAndWait {} }
                #expect(circle?.waits.map(\.operation) == ["RunLoop.performAndWait", "Port.request"])
                question.reply.reply(1)
                // The requester continues, so a wait for it is allowed.
                #expect(refusal { try requester.runLoop.performAndWait {} } == nil)
                loop.stop()
            }
            requester.runLoop.perform {
                do { answer.add(try port.request { Question(reply: $0) }) } catch { Issue.record(error) }
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(answer.entries == [1])
        }
        requester.stop()
    }

    @Test func `two receivers that ask each other at the same moment do not hang`() throws {
        let threads = [try RunLoopThread(name: "one"), try RunLoopThread(name: "two")]
        let ports = [Port<Question<Int>>(queueLimit: 1), Port<Question<Int>>(queueLimit: 1)]
        for (number, thread) in threads.enumerated() {
            try thread.runLoop.performAndWait {
                RunLoop.current.add(ports[number], forMode: .common) { $0.reply.reply(number) }
            }
        }
        for _ in 0..<300 {
            let arrived = Shared()
            let outcomes = Log<String>()
            let done = [Gate(), Gate()]
            for (number, thread) in threads.enumerated() {
                thread.runLoop.perform {
                    arrived.increment()
                    waitUntil("both are in their blocks") { arrived.count == 2 }
                    do throws(RequestError) {
                        let answer = try ports[1 - number].request { Question(reply: $0) }
                        #expect(answer == 1 - number)
                        outcomes.add("answer")
                    } catch  where error.circle != nil {
                        outcomes.add("circle")
                    } catch {
                        Issue.record(error)
                    }
                    done[number].open()
                }
            }
            for gate in done { #expect(gate.wait()) }
            // The thread whose request was refused returns to its loop, and answers the other request.
            #expect(outcomes.entries.sorted() == ["answer", "circle"])
        }
        for thread in threads { thread.stop() }
    }

    @Test func `a circle that goes through a full port and a request is seen`() throws {
        let sender = try RunLoopThread(name: "sender")
        try onLoopThread { loop in
            let full = Port<Int>(queueLimit: 1)
            let questions = Port<Question<Int>>()
            loop.add(full, forMode: .default) { _ in }
            try full.send(0)
            try sender.runLoop.performAndWait {
                RunLoop.current.add(questions, forMode: .common) { question in
                    do { try full.send(1) } catch { Issue.record(error) }
                    question.reply.reply(2)
                }
            }
            sender.runLoop.perform { do { try full.send(1) } catch { Issue.record(error) } }
            waitUntilSenderIsInGraph(full)
            #expect {
                _ = try questions.request { Question(reply: $0) }
            } throws: { error in
                let circle = (error as? RequestError)?.circle
                return circle?.waits.map(\.operation) == ["Port.request", "Port.send"]
            }
            loop.settle()
            try sender.runLoop.performAndWait {}
        }
        sender.stop()
    }
}

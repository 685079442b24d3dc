internal import Dispatch
internal import Glibc
internal import MessagePorts
internal import RunLoops

/// Requests to a loop that sleeps, and replies at once.
struct RequestCosts {
    private struct Question: Sendable {
        let value: Int
        let reply: ReplyRight<Int>
    }

    private let near: RunLoopThread
    private let far: RunLoopThread
    private let questions = Port<Question>()
    private let isOver = DispatchSemaphore(value: 0)

    init() throws {
        near = try RunLoopThread(name: "near")
        far = try RunLoopThread(name: "far")
        _ = try near.prepare(.park)
        _ = try far.prepare(.park) { [questions] in
            RunLoop.current.add(questions, forMode: .default) { question in
                question.reply.reply(question.value + 1)
            }
        }
    }

    /// Makes `count` requests on the thread of a loop, which each request blocks.
    func block(_ count: Int) throws {
        near.runLoop.perform { [questions, isOver] in
            do {
                var value = 0
                while value < count {
                    value = try questions.request { [value] in Question(value: value, reply: $0) }
                }
            } catch { fatalError("\(error)") }
            isOver.signal()
        }
        try end()
    }

    /// Makes `count` requests in an actor on a loop.
    func wait(_ count: Int) throws {
        let asker = Asker(on: near.runLoop)
        Task { [questions, isOver] in
            await asker.ask(questions, count)
            isOver.signal()
        }
        try end()
    }

    private func end() throws {
        try isOver.waitForEnd()
        for thread in [near, far] {
            thread.stop()
            thread.join()
        }
    }

    private actor Asker: RunLoopActor {
        nonisolated let runLoop: RunLoop

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func ask(_ questions: Port<Question>, _ count: Int) async {
            do {
                var value = 0
                while value < count {
                    value = try await questions.request { [value] in Question(value: value, reply: $0) }
                }
            } catch { fatalError("\(error)") }
        }
    }

    /// Makes `count` requests to a port between processes, whose loop is in this process, so that both sides are counted.
    static func askRemotely(_ count: Int) throws {
        let name = try PortName("@runloop-bench-\(getpid())")
        let thread = try RunLoopThread(name: "server")
        let message = [UInt8](repeating: 1, count: 64)
        let port = try MessagePort(named: name)
        _ = try thread.prepare(.park) {
            try RunLoop.current.add(port, forMode: .default) { request in
                // An error means that the requester has ended.
                do { try request.reply(message) } catch {}
            }
        }
        let remote = try RemotePort(named: name)
        for _ in 0..<count { _ = try remote.request(message) }
        remote.invalidate()
        port.invalidate()
        thread.stop()
        thread.join()
    }
}

import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Tasks and threads that send to a small port, and sometimes give up, while its receivers take turns.
///
/// The receivers are loops and tasks, some of which are cancelled.
@Suite struct PortTaskStressTests {
    // Guarantees: A message of a task that is cancelled while it waits is sent or given back, and not both.
    @Test(arguments: 0..<30 as Range<UInt64>)
    func `no message is lost or doubled, and each sender's come in order`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let port = Port<Numbered>(queueLimit: PortQueueLimit(Int.random(in: 1...4, using: &random)))
        let sent = Log<Numbered>()
        let seeds = (0..<6).map { _ in random.next() }
        let isEnough = Shared()
        let threads = try Threads(3) { sender in
            var random = SplitMix64(seed: seeds[sender])
            for number in 0..<200 {
                let message = Numbered(sender: sender, number: number)
                do throws(PortSendError<Numbered>) {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: try port.send(message, before: .now + .microseconds(200))
                    case 1: try port.send(message, before: .distantPast)
                    default: try port.send(message)
                    }
                    sent.add(message)
                } catch {
                    #expect(error.messages == [message] && error.reason == .timedOut)
                }
            }
        }
        let tasks = (3..<6).map { sender in
            Task { await sendAsTask(sender, SplitMix64(seed: seeds[sender]), to: port, sent) }
        }
        let received = Log<Numbered>()
        let receiver = Task {
            var random = random
            while isEnough.count == 0 { try await receiveInTurn(port, received, &random) }
            // The remaining messages.
            let rest = Task { for await message in port.messages { received.add(message) } }
            await yieldUntil("the port is empty") { port.core.queue.mailbox.current.isArmed }
            rest.cancel()
            await rest.value
        }
        for task in tasks { await task.value }
        try await joined(threads)
        isEnough.increment()
        try await receiver.value
        #expect(Set(received.entries) == Set(sent.entries))
        #expect(received.entries.count == sent.entries.count)
        for sender in 0..<6 {
            let numbers = received.entries.filter { $0.sender == sender }.map(\.number)
            #expect(numbers == numbers.sorted())
        }
        #expect(waitingSenders(at: port) == 0)
    }
}

private struct Numbered: Hashable, Sendable {
    let sender: Int
    let number: Int
}

/// Waits for threads without blocking a thread of the pool, because the tasks need those.
private func joined(_ threads: Threads) async throws {
    let isOver = Shared()
    let waiting = try BareThread {
        do { try threads.join() } catch { Issue.record(error) }
        isOver.increment()
    }
    await yieldUntil("the senders are done") { isOver.count == 1 }
    waiting.join()
}

/// Sends messages, some of them from tasks that are cancelled during the send.
private func sendAsTask(
    _ sender: Int, _ seed: SplitMix64, to port: Port<Numbered>, _ sent: Log<Numbered>
) async {
    var random = seed
    for number in 0..<200 {
        let message = Numbered(sender: sender, number: number)
        let kind = Int.random(in: 0..<5, using: &random)
        let sending = Task {
            do throws(PortSendError<Numbered>) {
                switch kind {
                case 0: try await port.send(message, before: .now + .microseconds(200))
                case 1: try await port.send(message, before: .distantPast)
                case 2: try await port.send(contentsOf: [message])
                default: try await port.send(message)
                }
                sent.add(message)
            } catch {
                #expect(error.messages == [message])
                #expect(error.reason == .timedOut || error.reason == .cancelled)
            }
        }
        if kind == 4 {
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
            sending.cancel()
        }
        await sending.value
    }
}

/// Receives for some time: as a task that is cancelled, as a task that leaves its loop, or as a run loop.
private func receiveInTurn(
    _ port: Port<Numbered>, _ received: Log<Numbered>, _ random: inout SplitMix64
) async throws {
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
        let task = Task { for await message in port.messages { received.add(message) } }
        for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
        task.cancel()
        await task.value
    case 1:
        var iterator = port.messages.makeAsyncIterator()
        let before = received.entries.count
        let most = Int.random(in: 1..<20, using: &random)
        while received.entries.count - before < most, port.core.queue.mailbox.current.node != nil {
            guard let message = await iterator.next() else { break }
            received.add(message)
        }
    default:
        try await withLoopThread { thread in
            try await thread.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .default) { received.add($0) }
                RunLoop.current.run(in: .default, until: .now + .microseconds(300))
                RunLoop.current.remove(port, forMode: .default)
            }
        }
    }
}

import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The reader of a connection changes often, and every wait ends.
@Suite struct RemotePortStressTests {
    /// The outcomes of requests.
    private final class Outcomes: Sendable {
        let replies = Shared()
        let refusals = Shared()
        let timeouts = Shared()

        func note(_ error: MessagePortError) {
            switch error.reason {
            case .noReply: refusals.increment()
            case .timedOut: timeouts.increment()
            default: Issue.record(error)
            }
        }

        var sum: Int { replies.count + refusals.count + timeouts.count }
    }

    /// Replies at once, drops the request, or has another thread reply, as the request says.
    private func answer(_ message: consuming MessagePort.Message, _ other: RunLoop) {
        var message = message
        let asked = message.bytes
        let right = message.takeReplyRight()
        switch asked[0] {
        case 0: break
        case 1:
            let holder = RightHolder()
            holder.keep(right)
            other.perform { _ = holder.reply(String(decoding: asked, as: UTF8.self)) }
        default:
            let holder = RightHolder()
            holder.keep(right)
            _ = holder.reply(String(decoding: asked, as: UTF8.self))
        }
    }

    // Guarantees: A request ends once: with its reply, with the notice that there is none, with the end of the connection, or with
    // the end of the wait for it.
    @Test(arguments: 0..<4)
    func `requests of threads and tasks all end, whether in time or not, answered or not`(
        seed: UInt64
    ) async throws {
        let second = try RunLoopThread(name: "second")
        defer { second.stop() }
        let loop = second.runLoop
        let server = try PortServer { answer($0, loop) }
        let remote = try server.connect()
        try await second.runLoop.performAndWait { try remote.addInvalidationHandler {} }
        let outcomes = Outcomes()
        let rounds = 150
        let threads = try Threads(4) { index in
            var random = SplitMix64(seed: seed &* 100 &+ UInt64(index))
            for _ in 0..<rounds {
                let asked = [
                    UInt8.random(in: 0..<4, using: &random), UInt8.random(in: 0..<128, using: &random),
                ]
                let isShort = UInt8.random(in: 0..<4, using: &random) == 0
                do throws(MessagePortError) {
                    let reply = try remote.request(asked, before: isShort ? .now + .microseconds(50) : .hang)
                    let isItsOwn = reply.bytes == asked
                    #expect(isItsOwn)
                    outcomes.replies.increment()
                } catch { outcomes.note(error) }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for index in 4..<8 {
                group.addTask {
                    var random = SplitMix64(seed: seed &* 100 &+ UInt64(index))
                    for _ in 0..<rounds {
                        let asked = [
                            UInt8.random(in: 0..<4, using: &random),
                            UInt8.random(in: 0..<128, using: &random),
                        ]
                        let isShort = UInt8.random(in: 0..<4, using: &random) == 0
                        do throws(MessagePortError) {
                            let reply = try await remote.request(
                                asked, before: isShort ? .now + .microseconds(50) : .hang)
                            let isItsOwn = reply.bytes == asked
                            #expect(isItsOwn)
                            outcomes.replies.increment()
                        } catch { outcomes.note(error) }
                    }
                }
            }
            await group.waitForAll()
        }
        try threads.join()
        #expect(outcomes.sum == 8 * rounds)
        #expect(outcomes.replies.count > 0 && outcomes.refusals.count > 0)
        #expect(remote.lateReplyCount <= outcomes.timeouts.count)
    }
}

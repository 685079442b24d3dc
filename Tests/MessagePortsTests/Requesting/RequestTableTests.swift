import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The requests of a connection and the role of their reader, as plain values.
@Suite struct RequestTableTests {
    @Test func `a reply resolves the request with its number, once, and any other reply is late`() {
        var table = RequestTable()
        let (first, second) = (PendingRequest(isTask: false), PendingRequest(isTask: true))
        table.add(first)
        table.add(second)
        let (one, two) = (first.number, second.number)
        #expect(one != two && one != 0)
        #expect(table.taskCount == 1)
        #expect(table.take(two) === second)
        #expect(table.take(two) == nil)
        #expect(table.taskCount == 0 && table.lateCount == 1)
        #expect(table.abandon(first) && !table.abandon(first))
        #expect(table.take(one) == nil)
        #expect(table.lateCount == 2 && table.isEmpty)
        #expect(table.take(4_711) == nil)
        #expect(table.lateCount == 3)
    }

    @Test(arguments: 0..<20)
    func `each of many requests is found once, in any order of the replies`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = RequestTable()
        let requests = (0..<50).map { _ in PendingRequest(isTask: false) }
        for request in requests { table.add(request) }
        for request in requests.shuffled(using: &random) {
            #expect(table.take(request.number) === request)
            #expect(table.take(request.number) == nil)
        }
        #expect(table.isEmpty && table.lateCount == 50)
    }

    @Test func `the waiting thread with the oldest request reads next`() {
        var table = RequestTable()
        let requests = (0..<4).map { PendingRequest(isTask: $0 == 0) }
        for request in requests { table.add(request) }
        #expect(table.firstGate == nil)
        let gates = (0..<2).map { _ in ThreadGate() }
        #expect(requests[3].attach(.thread(gates[1])) && requests[0].attach(.task {}))
        #expect(table.firstGate === gates[1])
        #expect(requests[2].attach(.thread(gates[0])) == true)
        #expect(table.firstGate === gates[0])
        #expect(requests[2].attach(.noWaiter) == true)
        #expect(table.firstGate === gates[1])
        #expect(requests[2].attach(.thread(gates[0])) && table.abandon(requests[2]))
        #expect(table.firstGate === gates[1])
        #expect(table.removeAll().count == 3)
        #expect(table.firstGate == nil && table.taskCount == 0)
    }

    @Test func `deciding a request wakes its waiter, and a later waiter does not wait`() {
        let (request, gate) = (PendingRequest(isTask: false), ThreadGate())
        #expect(request.attach(.thread(gate)) && !request.isDecided && request.outcome == nil)
        request.decide(.failure(MessagePortError(.noReply))).wake()
        #expect(request.isDecided && gate.wait(until: .now))
        guard case .failure(let error) = request.outcome, error.reason == .noReply else {
            Issue.record("it was decided otherwise")
            return
        }
        let told = Shared()
        #expect(!request.attach(.task { told.increment() }) && told.count == 0)
    }

    @Test func `only one reads at a time, and a thread takes over from a service that was not notified yet`()
    {
        var role = ReaderRole()
        #expect(role.acquireForThread() && !role.acquireForThread())
        #expect(role.next(threadWaits: true, interest: .replies) == .nothing)
        role.release()
        #expect(role.next(threadWaits: true, interest: .replies) == .wakeThread)
        #expect(role.next(threadWaits: false, interest: .replies) == .notifyService(.replies))
        #expect(role.acquireForThread() == true)
        // The kernel notifies the service nevertheless, and the service has nothing to do.
        #expect(role.acquireForService() == false)
        role.release()
        #expect(role.next(threadWaits: false, interest: .replies) == .notifyService(.replies))
        #expect(role.acquireForService() && !role.acquireForThread())
        role.release()
        #expect(role.next(threadWaits: false, interest: []) == .nothing)
    }

    @Test func `the kernel is called again only for another interest, or after it has notified the service`()
    {
        var role = ReaderRole()
        #expect(role.next(threadWaits: false, interest: .end) == .notifyService(.end))
        #expect(role.next(threadWaits: false, interest: .end) == .nothing)
        #expect(role.acquireForThread() == true)
        role.release()
        #expect(role.next(threadWaits: false, interest: .end) == .nothing)
        #expect(
            role.next(threadWaits: false, interest: [.end, .replies]) == .notifyService([.end, .replies]))
        #expect(role.acquireForService() == true)
        role.release()
        #expect(role.next(threadWaits: false, interest: .end) == .notifyService(.end))
        #expect(role.next(threadWaits: false, interest: []) == .nothing)
        // The earlier notification arrives, and is no longer needed.
        #expect(role.acquireForService() == false)
    }
}

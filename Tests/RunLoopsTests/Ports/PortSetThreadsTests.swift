import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Sets that several threads use: changes while threads wait, and the targets of the waits.
@Suite struct PortSetThreadsTests {
    @Test func `a member that is added while a thread waits is received from`() throws {
        let (quiet, late) = (Port<Int>(), Port<Int>())
        let set = PortSet<Int>()
        set.add(quiet)
        let receiver = try Threads(1) { _ throws in
            #expect(try set.receive() == 1)
            #expect(try set.receive() == 2)
        }
        waitUntil("it waits") { set.waitingCount == 1 }
        set.add(late)
        try late.send(1)
        waitUntil("it waits") { set.waitingCount == 1 }
        // A port that already has a message.
        let third = Port<Int>()
        try third.send(2)
        set.add(third)
        try receiver.join()
    }

    @Test func `a member that is removed while a thread waits is not received from`() throws {
        let (leaving, staying) = (Port<Int>(), Port<Int>())
        let set = PortSet<Int>()
        set.add(leaving)
        set.add(staying)
        let receiver = try Threads(1) { _ throws in #expect(try set.receive() == 2) }
        waitUntil("it waits") { set.waitingCount == 1 }
        set.remove(leaving)
        try leaving.send(1)
        try staying.send(2)
        try receiver.join()
        let other = PortSet<Int>()
        other.add(leaving)
        #expect(try other.receive() == 1)
    }

    @Test func `when the last member leaves, all waiting threads fail with noMembers`() throws {
        let port = Port<Int>()
        let set = PortSet<Int>()
        set.add(port)
        let receivers = try Threads(3) { _ in
            #expect(throws: PortSetError(.noMembers)) { _ = try set.receive() }
        }
        waitUntil("all wait") { set.waitingCount == 3 }
        set.remove(port)
        try receivers.join()
    }

    /// An executor that runs each job at once, on the thread that enqueues the job.
    private final class InlineExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // Safe: each job is run once, here.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test func `a sender whose task goes on inside receive may use the set`() throws {
        let (port, late) = (Port<Int>(queueLimit: 1), Port<Int>())
        let set = PortSet<Int>()
        set.add(port)
        try port.send(1)
        let events = Log<String>()
        // The task runs on this thread until it waits for room, before the initializer returns.
        _ = Task(executorPreference: InlineExecutor()) {
            do { try await port.send(2) } catch { Issue.record(error) }
            // This runs inside the call of `receive` that has made room.
            set.add(late)
            events.add("added to \(set.count)")
            do { try await late.send(3) } catch { Issue.record(error) }
            set.remove(late)
        }
        #expect(events.entries.isEmpty)
        let receiver = try Threads(1) { _ throws in
            #expect(try set.receive() == 1)
            events.add("received 1")
            #expect(try set.receive() == 2)
        }
        try receiver.join(seconds: 60)
        #expect(events.entries == ["added to 2", "received 1"])
    }

    @Test func `several threads share the work, and each message goes to one`() throws {
        let ports = (0..<3).map { _ in Port<Int>(queueLimit: 8) }
        let set = PortSet<Int>()
        for (number, port) in ports.enumerated() { set.add(port) { number * 10_000 + $0 } }
        let received = Log<Int>()
        let receivers = try Threads(4) { _ in
            do { while true { received.add(try set.receive()) } } catch PortSetError.Reason.noMembers {}
        }
        let senders = try Threads(3) { number in
            for message in 0..<1_000 { try ports[number].send(message) }
        }
        try senders.join()
        waitUntil("all are received") { received.entries.count == 3_000 }
        for port in ports { port.invalidate() }
        try receivers.join()
        #expect(
            received.entries.sorted() == (0..<3).flatMap { port in (0..<1_000).map { port * 10_000 + $0 } })
    }

    /// Ports are added and removed while threads send, wait, give up, and end the ports.
    @Test(arguments: 0..<12) func `nothing is lost and nothing comes twice while members come and go`(
        seed: UInt64
    ) throws {
        let ports = (0..<4).map { _ in Port<Int>(queueLimit: 4) }
        let sets = [PortSet<(port: Int, message: Int)>(), PortSet<(port: Int, message: Int)>()]
        let received = Log<(port: Int, message: Int)>()
        let isDone = Shared()
        let receivers = try Threads(2) { thread in
            while isDone.count == 0 {
                do { received.add(try sets[thread].receive(before: .now + .microseconds(200))) } catch {}
            }
        }
        let mover = try Threads(1) { _ in
            var random = SplitMix64(seed: seed)
            var places: [Int?] = [nil, nil, nil, nil]
            while isDone.count == 0 {
                let number = Int.random(in: 0..<4, using: &random)
                if let place = places[number] {
                    sets[place].remove(ports[number])
                    places[number] = nil
                } else {
                    let place = Int.random(in: 0..<2, using: &random)
                    sets[place].add(ports[number]) { (number, $0) }
                    places[number] = place
                }
            }
        }
        let senders = try Threads(4) { number in
            var random = SplitMix64(seed: seed &* 100 &+ UInt64(number))
            var message = 0
            while message < 300 {
                do throws(PortSendError<Int>) {
                    try ports[number].send(
                        message, before: .now + .microseconds(Int.random(in: 0..<500, using: &random)))
                    message += 1
                } catch {
                    #expect(error.reason == .timedOut)
                    #expect(error.messages == [message])
                }
            }
        }
        try senders.join()
        waitUntil("all are received") { received.entries.count >= 1_200 }
        isDone.increment()
        try receivers.join()
        try mover.join()
        for number in 0..<4 {
            // Two threads can record their messages of one port in either order.
            #expect(received.entries.filter { $0.port == number }.map(\.message).sorted() == Array(0..<300))
        }
    }

    @Test(arguments: 0..<300) func `a member that ends while it is removed loses its messages at once`(
        round: Int
    ) throws {
        let alive = Shared()
        let port = Port<Counted>()
        let set = PortSet<Int>()
        set.add(port) { _ in 1 }
        for _ in 0..<3 { try port.send(Counted(alive)) }
        _ = try set.receive()
        let arrived = Shared()
        let threads = try Threads(2) { thread in
            arrived.increment()
            waitUntil("both are there") { arrived.count == 2 }
            if thread == 0 { port.invalidate() } else { set.remove(port) }
        }
        try threads.join()
        #expect(alive.count == 0)
    }

    @Test func `a port of signals that ends while one is received is seen to end`() throws {
        for round in 0..<500 {
            let port = Port<Void>()
            let set = PortSet<Bool>()
            set.add(port, atEnd: false) { true }
            let ender = try Threads(1) { _ in
                try port.send()
                for _ in 0..<round % 64 { _ = port.isValid }
                port.invalidate()
            }
            while try set.receive(before: .hang) {}
            #expect(set.count == 0)
            try ender.join()
        }
    }

    @Test func `a port of signals that ends just before its bell is armed is looked at again`() throws {
        let port = Port<Void>()
        let set = PortSet<Bool>()
        let member = ElementMember<Bool>(port, port.core, end: false, set.core) { _ in true }
        set.core.add(member)
        try port.send()
        // A receiver has found the port alive, and takes the signal now. So no thread will ring the bell any longer.
        port.invalidate()
        var pump = PortQueue.Pump()
        let (taken, hasMore) = member.take(&pump)
        pump.finish()
        #expect(taken != nil && hasMore)
        #expect(try set.receive(before: .distantPast) == false)
    }

    @Test func `a wait that would deadlock with the thread that serves a set is refused, as with a loop`()
        throws
    {
        let port = Port<Question<Int>>(queueLimit: 1)
        let set = PortSet<Question<Int>>()
        set.add(port)
        let requesters = Log<RunLoop>()
        @Sendable func serve() throws {
            let question = try set.receive()
            // A request on the server's own thread.
            #expect(throws: RequestError(.wouldDeadlock)) { _ = try port.request { Question(reply: $0) } }
            // A circle: the requester waits for this thread.
            let requester = requesters.entries[0]
            let circle = refusal { try requester.performAndWait {} }
            #expect(circle?.waits.map(\.operation) == ["RunLoop.performAndWait", "Port.request"])
            question.reply.reply(7)
        }
        let server = try Threads(1) { _ in try serve() }
        try onLoopThread { loop throws in
            requesters.add(loop)
            #expect(try port.request { Question(reply: $0) } == 7)
        }
        try server.join()
    }

    @Test func `a wait for a set that another thread has taken over is in no circle with its old server`()
        throws
    {
        let port = Port<Question<Int>>()
        let set = PortSet<Question<Int>>()
        set.add(port)
        let middle = try RunLoopThread(name: "middle")
        let (isTakenOver, waits) = (Gate(), Gate())
        let old = try Threads(1) { _ throws in
            #expect(throws: PortSetError(.timedOut)) { _ = try set.receive(before: .distantPast) }
            // While this thread waits, the other thread serves the set.
            let answer = try middle.runLoop.performAndWait {
                waits.open()
                #expect(isTakenOver.wait())
                return try port.request { Question(reply: $0) }
            }
            #expect(answer == 7)
        }
        let new = try Threads(1) { _ throws in
            #expect(waits.wait())
            #expect(throws: PortSetError(.timedOut)) { _ = try set.receive(before: .distantPast) }
            isTakenOver.open()
            try set.receive(before: .hang).reply.reply(7)
        }
        try old.join()
        middle.stop()
        set.remove(port)
        withExtendedLifetime(new) {}
    }

    @Test func `a set is served by the thread that received last, and by none once that thread has ended`()
        throws
    {
        let port = Port<Int>(queueLimit: 1)
        let set = PortSet<Int>()
        set.add(port)
        try port.send(0)
        for _ in 0..<2 {
            try BareThread {
                do {
                    _ = try set.receive()
                    #expect(port.core.isReceivedHere)
                    try port.send(0)
                    let error = #expect(throws: PortSendError<Int>.self) { try port.send(1) }
                    #expect(error?.reason == .wouldDeadlock)
                } catch { Issue.record(error) }
            }.join()
        }
        try BareThread {
            #expect(!port.core.isReceivedHere)
        }.join()
    }
}

extension PortSet {
    /// The number of threads that sleep in the set, or are about to.
    fileprivate var waitingCount: Int { core.waitingCount }
}

import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Receiving from several ports without a loop.
@Suite struct PortSetTests {
    enum Event: Hashable, Sendable {
        case number(Int)
        case text(String)
        case signal
        case ended(String)
    }

    @Test func `messages of ports of different types come, and say which port they came to`() throws {
        let (numbers, texts, signals) = (Port<Int>(), Port<String>(), Port<Void>())
        let events = PortSet<Event>()
        events.add(numbers) { .number($0) }
        events.add(texts) { .text($0) }
        events.add(signals) { .signal }
        #expect(events.count == 3)
        try numbers.send(1)
        #expect(try events.receive() == .number(1))
        try texts.send("one")
        #expect(try events.receive() == .text("one"))
        try signals.send()
        try signals.send()
        #expect(try events.receive() == .signal)
        #expect(throws: PortSetError(.timedOut)) { _ = try events.receive(before: .distantPast) }
    }

    @Test func `messages from before a port was added are received, in order`() throws {
        let (port, signals) = (Port<Int>(), Port<Void>())
        try port.send(contentsOf: 0..<100)
        try signals.send()
        let set = PortSet<Int>()
        set.add(port)
        for number in 0..<100 { #expect(try set.receive(before: .now) == number) }
        set.add(signals) { -1 }
        #expect(try set.receive(before: .now) == -1)
    }

    @Test func `a thread that waits is woken by each kind of member`() throws {
        let (numbers, signals) = (Port<Int>(), Port<Void>())
        let received = Log<Int>()
        let set = PortSet<Int>()
        set.add(numbers)
        set.add(signals) { -1 }
        let receiver = try Threads(1) { _ in
            for _ in 0..<300 { received.add(try set.receive()) }
        }
        for number in 0..<100 {
            try numbers.send(number)
            waitUntil("it is received") { received.entries.count == 3 * number + 1 }
            try signals.send()
            waitUntil("it is received") { received.entries.count == 3 * number + 2 }
            try numbers.makeSendOnceRight(ifUnused: -2).send(-3)
            waitUntil("it is received") { received.entries.count == 3 * number + 3 }
        }
        try receiver.join()
        #expect(received.entries == (0..<100).flatMap { [$0, -1, -3] })
    }

    @Test func `a deadline ends the wait, and not before`() throws {
        let port = Port<Int>()
        let set = PortSet<Int>()
        set.add(port)
        let deadline = ContinuousClock.now + .milliseconds(10)
        #expect(throws: PortSetError(.timedOut)) { _ = try set.receive(before: deadline) }
        #expect(ContinuousClock.now >= deadline)
        try port.send(1)
        #expect(try set.receive(before: deadline) == 1)
    }

    // Guarantees: A member of a set that has a message is served after at most one message of each other member, for each thread
    // that receives.
    @Test func `members are served in turn, however much one has`() throws {
        let set = PortSet<Int>()
        let ports = (0..<4).map { _ in Port<Int>(queueLimit: .unlimited) }
        for (number, port) in ports.enumerated() { set.add(port) { _ in number } }
        try ports[0].send(contentsOf: 0..<1_000)
        for port in ports[1...] { try port.send(contentsOf: 0..<100) }
        var served = [0, 0, 0, 0]
        for _ in 0..<400 {
            served[try set.receive(before: .now)] += 1
            #expect(served.max()! - served.min()! <= 1)
        }
        #expect(served == [100, 100, 100, 100])
        for _ in 0..<900 { #expect(try set.receive(before: .now) == 0) }
        #expect(throws: PortSetError(.timedOut)) { _ = try set.receive(before: .now) }
    }

    // Guarantees: A member of a set that has a message is served after at most one message of each other member, for each thread
    // that receives.
    @Test func `a member that always has more does not starve one with a single message`() throws {
        let (busy, rare) = (Port<Int>(), Port<Int>())
        let set = PortSet<String>()
        set.add(busy) { number in
            do { try busy.send(number + 1) } catch { Issue.record(error) }
            return "busy"
        }
        set.add(rare) { _ in "rare" }
        try busy.send(0)
        for _ in 0..<10 { #expect(try set.receive() == "busy") }
        try rare.send(0)
        #expect(try [set.receive(), set.receive()].contains("rare"))
    }

    @Test func `a full member's senders wait for the set, and are served in turn`() throws {
        let port = Port<Int>(queueLimit: 1)
        let set = PortSet<Int>()
        set.add(port)
        try port.send(0)
        var senders: [Threads] = []
        for number in 1...5 {
            senders.append(try Threads(1) { _ in try port.send(number) })
            waitUntilSendersWait(number, at: port)
        }
        for number in 0...5 { #expect(try set.receive(before: .hang) == number) }
        for sender in senders { try sender.join() }
    }

    @Test func `the end of a member is received, once, when its turn comes`() throws {
        let (one, two, quiet) = (Port<Int>(), Port<Void>(), Port<Int>())
        let set = PortSet<Event>()
        set.add(one, atEnd: .ended("one")) { .number($0) }
        set.add(two, atEnd: .ended("two")) { .signal }
        set.add(quiet) { .number($0) }
        one.invalidate()
        #expect(try set.receive() == .ended("one"))
        two.invalidate()
        #expect(try set.receive() == .ended("two"))
        #expect(set.count == 1)
        quiet.invalidate()
        #expect(throws: PortSetError(.noMembers)) { _ = try set.receive() }
        #expect(set.count == 0)
        set.add(one, atEnd: .ended("again")) { .number($0) }
        set.add(two) { .signal }
        #expect(try set.receive() == .ended("again"))
        #expect(throws: PortSetError(.noMembers)) { _ = try set.receive(before: .distantPast) }
    }

    @Test func `the end of a member wakes a waiting thread`() throws {
        for isSignal in [false, true] {
            let (port, signals) = (Port<Int>(), Port<Void>())
            let set = PortSet<Event>()
            if isSignal {
                set.add(signals, atEnd: .ended("signals")) { .signal }
            } else {
                set.add(port, atEnd: .ended("port")) { .number($0) }
            }
            let waits = Gate()
            let receiver = try Threads(1) { _ throws in
                waits.open()
                #expect(try set.receive() == .ended(isSignal ? "signals" : "port"))
                #expect(throws: PortSetError(.noMembers)) { _ = try set.receive() }
            }
            #expect(waits.wait())
            if isSignal { signals.invalidate() } else { port.invalidate() }
            try receiver.join()
        }
    }

    @Test func `messages taken in from a member that has ended are destroyed`() throws {
        let alive = Shared()
        let port = Port<Counted>()
        let set = PortSet<Int>()
        set.add(port) { _ in 1 }
        for _ in 0..<5 { try port.send(Counted(alive)) }
        #expect(try set.receive() == 1)
        #expect(alive.count == 4)
        port.invalidate()
        #expect(throws: PortSetError(.noMembers)) { _ = try set.receive() }
        #expect(alive.count == 0)
    }

    @Test func `adding a member twice adds it once, and removing a port that is no member does nothing`()
        throws
    {
        let port = Port<Int>()
        let set = PortSet<Int>()
        set.remove(port)
        set.add(port) { $0 }
        set.add(port) { -$0 }
        #expect(set.count == 1)
        try port.send(1)
        #expect(try set.receive() == 1)
        set.remove(port)
        set.remove(port)
        set.add(port) { -$0 }
        try port.send(1)
        #expect(try set.receive() == -1)
    }

    @Test func `a port goes from a loop to a set and back, and takes its messages along`() throws {
        let port = Port<Int>()
        let set = PortSet<Int>()
        try port.send(contentsOf: 0..<6)
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                // The set has already received the other messages.
                if number == 1 { loop.remove(port, forMode: .default) }
            }
            while received.count < 2 { loop.pass() }
            set.add(port)
            #expect(try set.receive() == 2)
            #expect(try set.receive() == 3)
            set.remove(port)
            try port.send(6)
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            #expect(received == [0, 1, 4, 5, 6])
            loop.remove(port, forMode: .default)
        }
        // Another thread receives from the set.
        try port.send(7)
        set.add(port)
        #expect(try set.receive() == 7)
    }

    @Test func `the end of a set releases its members`() throws {
        let (port, other) = (Port<Int>(), Port<Void>())
        func makeSet() throws {
            let set = PortSet<Int>()
            set.add(port)
            set.add(other) { 1 }
            try port.send(contentsOf: [0, 1, 2])
            #expect(try set.receive() == 0)
        }
        try makeSet()
        try other.send()
        let heir = PortSet<Int>()
        heir.add(port)
        #expect(try [heir.receive(), heir.receive()] == [1, 2])
        heir.add(other) { 9 }
        #expect(try heir.receive() == 9)
    }

    @Test func `a set and its members leave nothing behind`() throws {
        let alive = Shared()
        func use() throws {
            let set = PortSet<Int>()
            let counted = Counted(alive)
            let port = Port<Int>()
            set.add(port) { number in
                withExtendedLifetime(counted) {}
                return number
            }
            set.add(Port<Void>()) {
                withExtendedLifetime(counted) {}
                return 0
            }
            try port.send(1)
            _ = try set.receive()
        }
        for _ in 0..<10 { try use() }
        #expect(alive.count == 0)
    }

    @Test func `no-senders notices wait while a port is in a set, and are delivered in a loop`() throws {
        let port = Port<Int>()
        try onLoopThread { loop in
            loop.add(port, forMode: .default) { _ in }
            port.onNoSenders { _ in Issue.record("it has left") }
            _ = port.makeSendRight()
            loop.remove(port, forMode: .default)
            let set = PortSet<Int>()
            set.add(port)
            try port.send(1)
            #expect(try set.receive() == 1)
            #expect(throws: PortSetError(.timedOut)) { _ = try set.receive(before: .distantPast) }
            set.remove(port)
            var told = 0
            loop.add(port, forMode: .default) { _ in }
            port.onNoSenders { _ in told += 1 }
            loop.settle()
            #expect(told == 1)
        }
    }

    @Test func `a port is in one set or in one loop`() async throws {
        let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            let (one, two) = (PortSet<Int>(), PortSet<Int>())
            one.add(port)
            two.add(port)
        }
        #expect(
            try #require(second).message.contains("is in a loop or in another set; remove it there first"))
        let loop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            let set = PortSet<Int>()
            set.add(port)
            try onLoopThread { $0.add(port, forMode: .default) { _ in } }
        }
        #expect(try #require(loop).message.contains("RunLoop.add(port): the port made at"))
        #expect(
            try #require(loop).message.contains("is in a set or is in another loop; remove it there first"))
    }
}

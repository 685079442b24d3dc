import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A handler is called when a port has room, so that a loop need not block.
@Suite struct PortOnRoomTests {
    @Test func `a handler is called once, on its loop's thread, when the full port has room`() throws {
        let port = Port<Int>(queueLimit: 2)
        try port.send(contentsOf: 0..<2)
        try onLoopThread { loop in
            let calls = Log<Bool>()
            port.addRoomHandler { calls.add(loop.isCurrent) }
            loop.settle()
            loop.run(in: .default, until: .distantPast)
            #expect(calls.entries == [] && waitingSenders(at: port) == 1)
            let receiver = try Threads(1) { _ in
                let set = PortSet<Int>()
                set.add(port)
                let received = [try set.receive(), try set.receive()]
                #expect(received == [0, 1])
            }
            while calls.entries.isEmpty { loop.run(in: .default, until: .now + .milliseconds(1)) }
            try receiver.join()
            loop.run(in: .default, until: .distantPast)
            #expect(calls.entries == [true] && waitingSenders(at: port) == 0)
            try port.send(2, before: .distantPast)
        }
    }

    @Test func `if there is room, or the port has ended, the handler is called soon, and not at once`() throws
    {
        try onLoopThread { loop in
            let empty = Port<Int>(queueLimit: 1)
            let unlimited = Port<Int>(queueLimit: .unlimited)
            let signals = Port<Void>()
            let ended = Port<Int>(queueLimit: 1)
            try ended.send(1)
            ended.invalidate()
            let ends = Port<Int>(queueLimit: 1)
            try ends.send(1)
            let calls = Log<String>()
            empty.addRoomHandler { calls.add("empty") }
            unlimited.makeSendRight().addRoomHandler { calls.add("unlimited") }
            signals.addRoomHandler { calls.add("signals") }
            ended.addRoomHandler { calls.add("ended") }
            ends.addRoomHandler { calls.add("ends") }
            #expect(calls.entries == [])
            loop.run(in: .default, until: .distantPast)
            #expect(calls.entries == ["empty", "unlimited", "signals", "ended"])
            ends.invalidate()
            loop.run(in: .default, until: .distantPast)
            #expect(calls.entries.last == "ends" && calls.entries.count == 5)
        }
    }

    // Guarantees: Threads, tasks and handlers that wait for room are served in the order in which they came.
    @Test func `handlers and senders that wait have their turn in the order in which they came`() throws {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        try onLoopThread { loop in
            let calls = Log<Int>()
            port.addRoomHandler { calls.add(1) }
            let sender = try Threads(1) { _ in try port.send(1) }
            waitUntilSendersWait(2, at: port)
            port.addRoomHandler { calls.add(2) }
            port.addRoomHandler { calls.add(3) }
            let set = PortSet<Int>()
            set.add(port)
            #expect(try set.receive() == 0)
            try sender.join()
            loop.run(in: .default, until: .distantPast)
            // The sender behind the first handler has used the room.
            #expect(calls.entries == [1] && waitingSenders(at: port) == 2)
            #expect(try set.receive() == 1)
            loop.run(in: .default, until: .distantPast)
            #expect(calls.entries == [1, 2, 3])
        }
    }

    @Test
    func `a loop that ends first destroys the handler on its thread, uncalled, and no sender is held up`()
        throws
    {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        let isGone = Gate()
        let thread = try BareThread {
            let loop = RunLoop.current
            let canary = Canary {
                #expect(loop.isCurrent)
                isGone.open()
            }
            port.addRoomHandler {
                canary.sing()
                Issue.record("the loop has ended")
            }
        }
        thread.join()
        #expect(isGone.wait())
        let sender = try Threads(1) { _ in try port.send(1) }
        waitUntilSendersWait(2, at: port)
        let set = PortSet<Int>()
        set.add(port)
        #expect(try set.receive() == 0)
        #expect(try set.receive() == 1)
        try sender.join()
    }

    @Test func `a loop sends everything through a small port without blocking`() throws {
        let port = Port<Int>(queueLimit: 3)
        let receiver = try Threads(1) { _ in
            let set = PortSet<Int>()
            set.add(port, atEnd: -1)
            for number in 0..<5_000 {
                let received = try set.receive()
                #expect(received == number)
            }
        }
        try onLoopThread { loop in
            let pump = RoomPump(port, 0..<5_000) { loop.stop() }
            let tick = Timer(timeInterval: .seconds(1_000), repeats: true) { _ in }
            loop.add(tick, forMode: .default)
            pump.send()
            #expect(loop.run(in: .default, until: .hang) == .stopped)
        }
        try receiver.join()
    }
}

/// Sends numbers from a loop, and pauses while the port is full.
private final class RoomPump {
    private let port: Port<Int>
    private var rest: Range<Int>
    private let onEnd: () -> Void

    init(_ port: Port<Int>, _ numbers: Range<Int>, onEnd: @escaping () -> Void) {
        self.port = port
        rest = numbers
        self.onEnd = onEnd
    }

    func send() {
        while let number = rest.first {
            do {
                try port.send(number, before: .distantPast)
            } catch {
                #expect(error.reason == .timedOut)
                return port.addRoomHandler { self.send() }
            }
            rest.removeFirst()
        }
        onEnd()
    }
}

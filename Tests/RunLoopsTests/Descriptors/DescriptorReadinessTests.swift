import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The readiness that sources report, and the number of system calls for it.
@Suite struct DescriptorReadinessTests {
    private typealias Interest = DescriptorSource.Interest
    private typealias Readiness = DescriptorSource.Readiness

    @Test func `a report of libevent is taken unless it may stand for an error or a hang-up`() {
        // The bits of libevent, whose header would import many other names.
        let (read, write, closed, edge): (CInt, CInt, CInt, CInt) = (0x02, 0x04, 0x80, 0x20)
        let both: Interest = [.read, .write]
        let cases: [(CInt, Interest, Readiness?)] = [
            (read, .read, .readable), (read | closed, .read, [.readable, .hangUp]), (closed, .read, .hangUp),
            (write, .write, .writable), (read, both, .readable), (write, both, .writable),
            (read | write | closed, both, [.readable, .writable, .hangUp]),
            (read | edge, .read, .readable), (write, .read, []), (read | closed, .write, []),
            (read | write, .read, nil), (read | write, .write, nil), (read | write, both, nil),
            (read | write | edge, both, nil), (0, .read, nil), (edge, .read, nil),
        ]
        for (events, interest, readiness) in cases {
            #expect(Readiness(libevent: events, for: interest) == readiness, "\(events) \(interest)")
        }
    }

    /// States of a descriptor, in which the other descriptors stay open.
    enum State: String, CaseIterable, Codable {
        case quietSocket, readableSocket, fullSocket, peerEndedWriting, peerClosed, peerClosedWithData, reset
        case bothEndedWriting, pipeWithData, pipeAtItsEnd, pipeWithDataAtItsEnd, pipeWithoutReader, fullPipe
        case listener, listenerWithClient, refusedConnection, unconnected, eventDescriptor, countedEvents

        /// Returns the descriptor to watch.
        func make() throws -> CInt {
            switch self {
            case .quietSocket: return try Wire.sockets().near
            case .readableSocket, .fullSocket, .peerEndedWriting, .peerClosed, .peerClosedWithData, .reset,
                .bothEndedWriting:
                return try sockets()
            case .pipeWithData, .pipeAtItsEnd, .pipeWithDataAtItsEnd, .pipeWithoutReader, .fullPipe:
                return try pipe()
            case .listener, .listenerWithClient, .refusedConnection, .unconnected: return try tcp()
            case .eventDescriptor: return try eventDescriptor(count: 0)
            case .countedEvents: return try eventDescriptor(count: 1)
            }
        }

        private func sockets() throws -> CInt {
            let wire = try Wire.sockets()
            switch self {
            case .fullSocket: wire.fill()
            case .peerEndedWriting: shutdown(wire.far, CInt(SHUT_WR))
            case .peerClosed: wire.close(wire.far)
            case .peerClosedWithData:
                wire.send()
                wire.close(wire.far)
            case .reset:
                // Unread data from this end at the peer's end.
                var byte: UInt8 = 1
                // Safe: the kernel reads a local variable of one byte.
                #expect(unsafe write(wire.near, &byte, 1) == 1)
                wire.close(wire.far)
            case .bothEndedWriting:
                shutdown(wire.far, CInt(SHUT_WR))
                shutdown(wire.near, CInt(SHUT_WR))
            default: wire.send()
            }
            return wire.near
        }

        private func pipe() throws -> CInt {
            let wire = try Wire.pipe()
            if self == .pipeWithData || self == .pipeWithDataAtItsEnd { wire.send() }
            switch self {
            case .pipeAtItsEnd, .pipeWithDataAtItsEnd: wire.close(wire.far)
            case .pipeWithoutReader:
                wire.close(wire.near)
                return wire.far
            case .fullPipe:
                #expect(try fill(wire) > 0)
                return wire.far
            default: break
            }
            return wire.near
        }

        private func eventDescriptor(count: UInt64) throws -> CInt {
            let wakeup = try Wakeup()
            let copy = dup(wakeup.descriptor)
            _ = consume wakeup
            var count = count
            // Safe: the kernel reads a local variable.
            if count > 0 { #expect(unsafe write(copy, &count, 8) == 8) }
            return copy
        }

        private func tcp() throws -> CInt {
            if self == .unconnected { return socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) }
            let (listener, port) = try Loopback.listen()
            switch self {
            case .listenerWithClient: _ = try Loopback.connect(to: port)
            case .refusedConnection:
                close(listener)
                return try Loopback.connect(to: port)
            default: break
            }
            return listener
        }
    }

    /// `POLLRDHUP`, which is visible only with `_GNU_SOURCE`.
    private static let peerHangUp: CInt = 0x2000

    /// The readiness that `poll` reports.
    private static func polled(_ descriptor: CInt, _ interest: Interest) -> Readiness {
        var events: CInt = 0
        if interest.contains(.read) { events |= CInt(POLLIN) | peerHangUp }
        if interest.contains(.write) { events |= CInt(POLLOUT) }
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        // Safe: the kernel reads and fills a local variable.
        _ = unsafe poll(&entry, 1, 0)
        let said = CInt(entry.revents)
        var readiness: Readiness = []
        if said & CInt(POLLIN) != 0 { readiness.insert(.readable) }
        if said & CInt(POLLOUT) != 0 { readiness.insert(.writable) }
        if said & (CInt(POLLHUP) | peerHangUp) != 0 { readiness.insert(.hangUp) }
        if said & CInt(POLLERR) != 0 { readiness.insert(.error) }
        return readiness
    }

    // Guarantees: The readiness that is reported is the kernel's answer in the same pass, and includes hang-ups and errors.
    @Test(arguments: State.allCases)
    func `the readiness of a descriptor is what poll says, for every interest and trigger`(state: State) async
    {
        // Not in the test's process, where a child of another test can have copies of the other ends.
        await #expect(processExitsWith: .success) { [state = state as State] in
            try onLoopThread { loop in
                for trigger in [DescriptorSource.Trigger.level, .edge] {
                    for interest: Interest in [.read, .write, [.read, .write]] {
                        let descriptor = try state.make()
                        if state == .refusedConnection {
                            while Self.polled(descriptor, .read).isEmpty { sched_yield() }
                        }
                        var reported: [Readiness] = []
                        let source = DescriptorSource(descriptor, interest: interest, trigger: trigger) {
                            _, ready in
                            reported.append(ready)
                        }
                        try loop.add(source, forMode: .default)
                        loop.pass()
                        let expected = Self.polled(descriptor, interest)
                        let comment = "\(state) \(trigger) \(interest)"
                        #expect(reported == (expected.isEmpty ? [] : [expected]), "\(comment)")
                        source.invalidate()
                    }
                }
            }
        }
    }

    /// Returns the number of `poll` calls for a number of reports, and the distinct reports.
    private func polls(
        _ loop: RunLoop, _ wire: Wire, _ interest: Interest, count: Int = 100
    ) throws -> (polls: Int, reports: [Readiness]) {
        var reports: [Readiness] = []
        let source = DescriptorSource(wire.near, interest: interest) { _, ready in reports.append(ready) }
        try loop.add(source, forMode: .default)
        let before = Faults.calls(.poll)
        for _ in 0..<count { loop.pass() }
        source.invalidate()
        #expect(reports.count == count)
        return (Faults.calls(.poll) - before, Array(Set(reports)))
    }

    @Test func `reports of reading, writing and the peer's end cost no call of the kernel`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            #expect(try polls(loop, wire, .write) == (0, [.writable]))
            #expect(try polls(loop, wire, [.read, .write]) == (0, [.writable]))
            wire.send()
            #expect(try polls(loop, wire, .read) == (0, [.readable]))
            #expect(try polls(loop, wire, .write) == (0, [.writable]))
            // Both bits together can stand for an error.
            #expect(try polls(loop, wire, [.read, .write]) == (100, [[.readable, .writable]]))
            shutdown(wire.far, CInt(SHUT_WR))
            #expect(try polls(loop, wire, .read) == (0, [[.readable, .hangUp]]))
            #expect(try polls(loop, wire, [.read, .write]) == (0, [[.readable, .writable, .hangUp]]))
        }
    }

    @Test func `a descriptor is looked at for having been closed at its first report and each 32nd after it`()
        throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            var reports = 0
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in reports += 1 }
            try loop.add(source, forMode: .default)
            var checks: [Int] = []
            for report in 1...100 {
                let before = Faults.watchCalls
                loop.pass()
                if Faults.watchCalls > before { checks.append(report) }
            }
            #expect(reports == 100)
            #expect(checks == [1, 33, 65, 97])
            source.invalidate()
        }
    }

    @Test(arguments: [false, true])
    func `a source whose descriptor is closed later, and lives on in a copy, is named after some reports`(
        isReused: Bool
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isReused] in
            try warmUpRuntime()
            try onLoopThread { loop in
                let (wire, other) = (try Wire.pipe(), try Wire.pipe())
                var calls = 0
                let source = DescriptorSource(wire.near, interest: .read, line: 4_711) { _, _ in
                    calls += 1
                    // After 32 calls the loop would end the program with another message.
                    precondition(calls < 40, "it is not noticed")
                }
                try loop.add(source, forMode: .default)
                wire.send()
                for _ in 0..<3 { loop.pass() }
                _ = dup(wire.near)
                close(wire.near)
                if isReused {
                    // Another file, which is also ready.
                    other.send()
                    #expect(dup2(other.near, wire.near) == wire.near)
                }
                loop.run(in: .default, until: .hang)
            }
        }
        let says =
            "made at RunLoopsTests/DescriptorReadinessTests.swift:4711 was closed; invalidate the source first"
        #expect(result?.message.contains(says) == true)
    }

    // Guarantees: If several sources of a loop watch a descriptor, data that the handler of one source has read is not reported to
    // the others.
    @Test func `a descriptor of several sources that one handler has read is not reported to the others`()
        throws
    {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                defer { wire.close() }
                var calls = 0
                let sources = (0..<2).map { _ in
                    DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, ready in
                        calls += 1
                        #expect(ready == .readable)
                        wire.drain()
                    }
                }
                for source in sources { try loop.add(source, forMode: .default) }
                for round in 1...3 {
                    wire.send()
                    for _ in 0..<3 { loop.pass() }
                    #expect(calls == round)
                }
                // With one source again, the loop does not call `poll`.
                sources[0].invalidate()
                let before = Faults.calls(.poll)
                wire.send()
                loop.pass()
                #expect(calls == 4)
                #expect(Faults.calls(.poll) == before)
                sources[1].invalidate()
            }
        }
    }

    @Test func `what an earlier handler of the pass has read is reported to the only source, once`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let wires = [try Wire.pipe(), try Wire.pipe()]
                defer { for wire in wires { wire.close() } }
                var calls = 0
                for wire in wires {
                    wire.send()
                    let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, _ in
                        calls += 1
                        for wire in wires { wire.drain() }
                    }
                    try loop.add(source, forMode: .default)
                }
                for _ in 0..<3 { loop.pass() }
                #expect(calls == 2)
            }
        }
    }

    // Guarantees: Data that a run inside a handler has read is not reported after that run.
    @Test func `what a run inside a handler has read is not reported afterwards`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let custom = RunLoop.Mode("custom")
                let wires = [try Wire.pipe(), try Wire.pipe()]
                defer { for wire in wires { wire.close() } }
                var calls = 0
                for wire in wires {
                    wire.send()
                    let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, _ in
                        calls += 1
                        loop.add(
                            Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                                for wire in wires { wire.drain() }
                            }, forMode: custom)
                        // A run inside the handler reports another descriptor, and so calls `poll`.
                        let other = DescriptorSource(wire.far, interest: .write) { other, _ in
                            other.invalidate()
                        }
                        do { try loop.add(other, forMode: custom) } catch { Issue.record(error) }
                        loop.run(in: custom, until: .hang)
                    }
                    try loop.add(source, forMode: .default)
                }
                for _ in 0..<3 { loop.pass() }
                #expect(calls == 1)
            }
        }
    }
}

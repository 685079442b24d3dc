import CFaults
import Glibc
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications

/// Centers whose hub is not there, is stopped, or comes back.
struct HubConnectionTests {
    private func withNames(_ body: (PortName, PortNames) throws -> Void) throws {
        let directory = try ScratchDirectory()
        try body(try PortName("hub"), PortNames(directory: directory.path))
        try directory.remove()
    }

    private func center(
        _ name: PortName, _ names: PortNames,
        _ change: (inout DistributedNotificationCenter.Options) -> Void = { _ in }
    ) throws -> DistributedNotificationCenter {
        var options = DistributedNotificationCenter.Options()
        change(&options)
        return try DistributedNotificationCenter(
            .hub(named: name, in: names, servesIfFirst: false), options: options)
    }

    @Test func `without a hub posts are kept up to the limit, and then refused, waited for or dropped`()
        throws
    {
        try withNames { name, names in
            let center = try center(name, names) { $0.keptPostLimit = 2 }
            defer { withExtendedLifetime(center) {} }
            #expect(try center.post("a") == 1)
            #expect(try center.post("a") == 2)
            #expect(throws: DistributedNotificationError(.full)) { try center.post("a") }
            #expect(throws: DistributedNotificationError(.full)) {
                try center.post("a", whenFull: .block(atMost: .milliseconds(20)))
            }
            #expect(try center.post("a", whenFull: .dropOldest) == 3)
            #expect(center.statistics.dropped == 1 && center.statistics.kept == 2)
            center.invalidate()
        }
    }

    @Test(arguments: [Duration.seconds(60), .seconds(Int64.max)])
    func `a thread that waits for room goes on when there is some`(time: Duration) throws {
        try withNames { name, names in
            let center = try center(name, names) {
                $0.keptPostLimit = 1
                // Times that never pass.
                ($0.stallTimeout, $0.reconnectTimeout) = (time, time)
            }
            defer { withExtendedLifetime(center) {} }
            try center.post("a")
            let done = Gate()
            try RunLoopThread.detach(name: "poster") { _ in
                do {
                    let number = try center.post("a", whenFull: .block(atMost: time))
                    #expect(number == 2)
                } catch { Issue.record(error) }
                done.open()
            }
            let hub = try DistributedNotificationHub(named: name, in: names)
            defer { withExtendedLifetime(hub) {} }
            #expect(done.wait(seconds: 60))
            hub.invalidate()
            hub.waitUntilInvalid()
            center.invalidate()
        }
    }

    @Test func `a center that cannot serve a hub says why`() throws {
        let directory = try ScratchDirectory()
        // The place of the lock file.
        // Safe: the kernel reads the string.
        #expect(unsafe mkdir(directory.path + "/.hub.lock", 0o700) == 0)
        let center = try DistributedNotificationCenter(
            .hub(named: PortName("hub"), in: PortNames(directory: directory.path)))
        waitUntil("it has tried") { if case .away = center.connectionState { true } else { false } }
        guard case .away(_, let reason) = center.connectionState, let error = reason.portError?.nameError
        else {
            return #expect(Bool(false), "\(center.connectionState)")
        }
        #expect(error.systemError?.call == "openat" && error.systemError?.code == EISDIR)
        center.invalidate()
        try directory.remove()
    }

    @Test func `a hub serves even if the kernel refuses the watch of its name`() throws {
        try withNames { name, names in
            let thread = try RunLoopThread(name: "hub")
            let server = LoopConfined<HubServer>()
            try thread.runLoop.performAndWait {
                faults_refuse_name_watches(EMFILE)
                defer { faults_refuse_name_watches(0) }
                server.value = try HubServer(name, in: names, Hub.Limits(), on: RunLoop.current) {}
            }
            let center = try center(name, names)
            try withWorker { loop in
                let log = EventLog()
                let observation = center.addObserver(forName: "a", on: loop) { log.append($0) }
                defer { withExtendedLifetime(observation) {} }
                #expect(observation.waitUntilConfirmed())
                try center.post("a")
                #expect(log.wait(for: 1).map(\.short) == ["1"])
            }
            center.invalidate()
            try thread.runLoop.performAndWait {
                server.value?.end()
                server.value = nil
            }
            thread.stop()
        }
    }

    // Guarantees: A slow observer delays neither posters nor other observers, and a stopped process delays posters for at most a
    // second.
    @Test func `a process that is stopped holds no poster back`() throws {
        try withNames { name, names in
            let hub = try DistributedNotificationHub(named: name, in: names)
            defer { withExtendedLifetime(hub) {} }
            let (poster, reader) = (
                try center(name, names) { $0.keptPostLimit = 100 }, try center(name, names)
            )
            defer { withExtendedLifetime((poster, reader)) {} }
            try withWorker { loop in
                let log = EventLog()
                let observation = reader.addObserver(forName: "a", on: loop) { log.append($0) }
                defer { withExtendedLifetime(observation) {} }
                #expect(observation.waitUntilConfirmed())
                let (isStopped, goesOn) = (Gate(), Gate())
                reader.state.loop.performInEveryMode {
                    isStopped.open()
                    _ = goesOn.wait()
                }
                #expect(isStopped.wait())
                for _ in 1...3_000 { try poster.post("a", whenFull: .block(atMost: .seconds(30))) }
                waitUntil("all are settled") { poster.statistics.kept == 0 }
                goesOn.open()
                let events = log.wait(for: 3_000)
                #expect(events.map(\.short) == (1...3_000).map { "\($0)" })
                // It is waited for again.
                try poster.post("a")
                waitUntil("the last is settled") { poster.statistics.kept == 0 }
                #expect(log.wait(for: 3_001).count == 3_001)
            }
            hub.invalidate()
            hub.waitUntilInvalid()
            poster.invalidate()
            reader.invalidate()
        }
    }

    @Test func `a message that the kernel refuses ends the connection, and is sent on the next one`() throws {
        try withNames { name, names in
            let hub = try DistributedNotificationHub(named: name, in: names)
            let (poster, observer) = (try center(name, names), try center(name, names))
            try withWorker { loop in
                let log = EventLog()
                let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
                defer { withExtendedLifetime(observation) {} }
                #expect(observation.waitUntilConfirmed())
                try poster.post("a")
                #expect(log.wait(for: 1).map(\.short) == ["1"])
                let isSet = Gate()
                poster.state.loop.performInEveryMode {
                    faults_refuse(faults_sendmsg, EPERM, 1)
                    isSet.open()
                }
                #expect(isSet.wait())
                for _ in 2...10 { try poster.post("a") }
                #expect(log.wait(for: 10).map(\.short) == (1...10).map { "\($0)" })
            }
            hub.invalidate()
            hub.waitUntilInvalid()
            poster.invalidate()
            observer.invalidate()
        }
    }

    // Guarantees: A notification that is missing after the subscription was confirmed is in a gap, before any later notification of
    // its topic.
    @Test func `what a poster drops while there is no hub is a gap for observers that come back`() throws {
        try withNames { name, names in
            let first = try DistributedNotificationHub(named: name, in: names)
            defer { withExtendedLifetime(first) {} }
            let poster = try center(name, names) { $0.keptPostLimit = 2 }
            defer { withExtendedLifetime(poster) {} }
            let observer = try center(name, names)
            defer { withExtendedLifetime(observer) {} }
            try withWorker { loop in
                let log = EventLog()
                let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
                defer { withExtendedLifetime(observation) {} }
                #expect(observation.waitUntilConfirmed())
                try poster.post("a")
                #expect(log.wait(for: 1).map(\.short) == ["1"])
                first.invalidate()
                first.waitUntilInvalid()
                for _ in 2...6 { try poster.post("a", whenFull: .dropOldest) }
                let second = try DistributedNotificationHub(named: name, in: names)
                defer { withExtendedLifetime(second) {} }
                let events = log.wait(for: 4)
                guard events.count == 4, case .gap(let gap) = events[1] else {
                    Issue.record("\(events.map(\.short))")
                    return
                }
                #expect(gap.from == 2 && gap.to == 4 && gap.poster == poster.poster && gap.isCertain)
                #expect(events[2].short == "5" && events[3].short == "6")
                second.invalidate()
                second.waitUntilInvalid()
            }
            poster.invalidate()
            observer.invalidate()
        }
    }

    @Test func `the state says that a hub is not there, is there, is stopped, and goes on`() async throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let center = try center(name, names) { $0.stallTimeout = .milliseconds(50) }
        defer { withExtendedLifetime(center) {} }
        var states = center.connectionStates.makeAsyncIterator()
        func wait(_ matches: (ConnectionState) -> Bool) async -> Bool {
            while let state = await states.next() { if matches(state) { return true } }
            return false
        }
        #expect(
            await wait {
                if case .away(_, let error) = $0 {
                    error.portError?.nameError?.reason == .unknown
                } else {
                    false
                }
            })
        let hub = try DistributedNotificationHub(named: name, in: names)
        defer { withExtendedLifetime(hub) {} }
        #expect(await wait { $0 == .connected })
        let goOn = Gate()
        let isBlocked = Gate()
        hub.loop.perform {
            isBlocked.open()
            _ = goOn.wait(seconds: 60)
        }
        #expect(isBlocked.wait())
        try center.post("a")
        #expect(await wait { if case .stalled = $0 { true } else { false } })
        goOn.open()
        #expect(await wait { $0 == .connected })
        hub.invalidate()
        #expect(await wait { if case .away = $0 { true } else { false } })
        center.invalidate()
        #expect(await wait { $0 == .ended(nil) })
        try directory.remove()
    }

    @Test func `a task that waits for a post gives up at its deadline, at its end, and with the center`()
        async throws
    {
        let directory = try ScratchDirectory()
        let center = try center(PortName("hub"), PortNames(directory: directory.path)) {
            $0.keptPostLimit = 3
        }
        defer { withExtendedLifetime(center) {} }
        await #expect(throws: DistributedNotificationError(.timedOut)) {
            try await center.post("a", until: .accepted, before: .now + .milliseconds(10))
        }
        let cancelled = Task { try await center.post("a", until: .settled) }
        cancelled.cancel()
        await #expect(throws: DistributedNotificationError(.cancelled)) { try await cancelled.value }
        let dropped = Task { try await center.post("a", until: .accepted) }
        while center.statistics.posted < 3 { await Task.yield() }
        for _ in 0..<3 { try center.post("a", whenFull: .dropOldest) }
        await #expect(throws: DistributedNotificationError(.dropped)) { try await dropped.value }
        let full = Task { try await center.post("a", until: .accepted) }
        center.invalidate()
        await #expect(throws: DistributedNotificationError(.ended)) { try await full.value }
        try directory.remove()
    }

    @Test func `a suspended center holds, and delivers what is immediate with all before it`() async throws {
        let hub = InProcessNotificationHub()
        defer { withExtendedLifetime(hub) {} }
        let poster = try DistributedNotificationCenter(hub.engine)
        defer { withExtendedLifetime(poster) {} }
        let observer = try DistributedNotificationCenter(hub.engine)
        defer { withExtendedLifetime(observer) {} }
        var iterator = observer.notifications(named: "a", capacity: .unlimited).makeAsyncIterator()
        #expect(await iterator.confirmed())
        observer.isSuspended = true
        try await poster.post("a", until: .settled)
        try await poster.post("a", deliverImmediately: true, until: .settled)
        #expect(await iterator.next()?.short == "1")
        #expect(await iterator.next()?.short == "2")
        try await poster.post("a", until: .settled)
        observer.isSuspended = false
        #expect(await iterator.next()?.short == "3")
    }

    @Test func `a center ends with its last reference, and so do its sequences`() async throws {
        var center: DistributedNotificationCenter? = try DistributedNotificationCenter(
            InProcessNotificationHub().engine)
        var iterator = center?.notifications(named: nil, capacity: .unlimited).makeAsyncIterator()
        #expect(await iterator?.confirmed() == true)
        center = nil
        #expect(await iterator?.next() == nil)
    }
}

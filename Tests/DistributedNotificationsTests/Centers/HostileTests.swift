import Glibc
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications

/// Processes that do not keep to the protocol, at a hub that others use.
struct HostileTests {
    /// Connects to a hub as a center does, and sends what a body says.
    private func attack(
        _ name: PortName, _ names: PortNames, _ body: (RemotePort) throws(MessagePortError) -> Void
    ) throws {
        let remote = try RemotePort(named: name, in: names, before: .now + .seconds(30))
        do { try body(remote) } catch {
            // The hub has closed the connection: that is what it should do.
            #expect(error.reason == .ended)
        }
        remote.invalidate()
    }

    private func hello(_ poster: PosterID) -> [UInt8] {
        var writer = WireWriter()
        writer.put(HubMessage.version)
        writer.put(poster)
        return writer.bytes
    }

    // Guarantees: Nothing that a process sends can end the hub, or stop it from serving others.
    @Test func `garbage, floods and lying numbers end the connection, and others are served`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let hub = try DistributedNotificationHub(named: name, in: names)
        defer { withExtendedLifetime(hub) {} }
        let poster = try DistributedNotificationCenter(.hub(named: name, in: names))
        defer { withExtendedLifetime(poster) {} }
        let observer = try DistributedNotificationCenter(.hub(named: name, in: names))
        defer { withExtendedLifetime(observer) {} }
        try withWorker { loop in
            let log = EventLog()
            let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            #expect(observation.waitUntilConfirmed())
            var random = SplitMix64(seed: 7)
            for round in 0..<60 {
                let id = UInt32.random(in: 0...20, using: &random)
                let bytes = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let greets = round % 2 == 0
                try attack(name, names) { remote throws(MessagePortError) in
                    if greets { try remote.send(hello(.random()), id: HubMessage.hello) }
                    try remote.send(bytes, id: id)
                    try remote.send(bytes, id: HubMessage.posts)
                }
            }
            // A poster that has the identity of another one.
            try attack(name, names) { remote throws(MessagePortError) in
                try remote.send(hello(.random()), id: HubMessage.hello)
                var post = WireWriter()
                post.put(UInt8(1))
                post.put(UInt8(1))
                post.put(UInt64(Int64.max))
                try remote.send(post.bytes, id: HubMessage.announce)
                var flood = WireWriter()
                flood.put(
                    Post(
                        poster: .random(), number: UInt64(Int64.max), previous: 0,
                        topic: Topic(name: "a", sender: nil)))
                for _ in 0..<2_000 { try remote.send(flood.bytes, id: HubMessage.posts) }
            }
            for _ in 0..<10 { try poster.post("a") }
            let own = poster.poster
            let deadline = ContinuousClock.now + .seconds(30)
            var numbers: [UInt64] = []
            while numbers.count < 10 && ContinuousClock.now < deadline {
                numbers = log.wait(for: 10).compactMap { event in
                    if case .notification(let note) = event, note.poster == own { note.number } else { nil }
                }
            }
            #expect(numbers == Array(1...10))
            #expect(
                hub.isValid && poster.connectionState == .connected && observer.connectionState == .connected)
        }
        hub.invalidate()
        hub.waitUntilInvalid()
        poster.invalidate()
        observer.invalidate()
        try directory.remove()
    }

    @Test(arguments: [HubMessage.subscribe, HubMessage.locate, HubMessage.announce])
    func `a message with more entries than the hub works on at a time ends the connection`(id: UInt32) throws
    {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let hub = try DistributedNotificationHub(named: name, in: names)
        let poster = PosterID.random()
        func message(_ count: Int) -> [UInt8] {
            var writer = WireWriter()
            if id == HubMessage.announce {
                for flag: UInt8 in [1, 0] { writer.put(flag) }
                writer.put(UInt64(1))
            }
            for number in 0..<UInt64(count) {
                switch id {
                case HubMessage.subscribe:
                    writer.put(Subscription(number: number + 1, name: "a", sender: nil, start: .last(1)))
                case HubMessage.locate: writer.put(PosterID(high: 0, low: number))
                default:
                    writer.put(
                        Horizon(
                            poster: poster, topic: Topic(name: "a", sender: nil), number: 1,
                            reason: .notKept))
                }
            }
            return writer.bytes
        }
        let most = id == HubMessage.locate ? HubMessage.postersPerMessage : HubMessage.subscriptionsPerMessage
        let remote = try RemotePort(named: name, in: names, before: .now + .seconds(30))
        try remote.send(hello(poster), id: HubMessage.hello)
        try remote.send(message(most + 1), id: id)
        // An empty message of this kind asks for nothing, so only the end of the connection refuses it.
        waitUntil("the connection has ended") {
            do {
                try remote.send([], id: HubMessage.locate)
                return false
            } catch { return true }
        }
        remote.invalidate()
        hub.invalidate()
        hub.waitUntilInvalid()
        try directory.remove()
    }

    @Test func `a peer that is refused learns the reason, and cannot greet again`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let hub = try DistributedNotificationHub(named: name, in: names)
        let answers = Log<[UInt32]>()
        try withWorker { loop in
            var hello = WireWriter()
            hello.put(HubMessage.version + 1)
            hello.put(PosterID.random())
            let bytes = hello.bytes
            let remote = try RemotePort(
                connectingTo: name, in: names, messageByteLimit: HubMessage.mostBytes, descriptorLimit: 0)
            try loop.performAndWait {
                try RunLoop.current.add(remote, forMode: .common) { message in
                    var reader = WireReader(message.bytes)
                    answers.add([message.id, (try? reader.number(UInt32.self)) ?? 0])
                }
                remote.onEnd { _, _ in answers.add([]) }
                remote.onConnect { [unowned remote] _ in
                    do { _ = try remote.trySend(bytes, id: HubMessage.hello) } catch { Issue.record(error) }
                }
            }
            waitUntil("the connection has ended") { answers.entries.last == [] }
            #expect(answers.entries.first == [HubMessage.refusal, HubMessage.refusedVersion])
            try loop.performAndWait { remote.invalidate() }
        }
        hub.invalidate()
        hub.waitUntilInvalid()
        try directory.remove()
    }

    @Test func `a hub that ends each connection soon is tried less and less often`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let times = Log<ContinuousClock.Instant>()
        try withWorker { loop in
            try loop.performAndWait {
                let port = try MessagePort(named: name, in: names)
                try RunLoop.current.add(port, forMode: .common) { [unowned port] message in
                    times.add(.now)
                    var welcome = WireWriter()
                    welcome.put(HubMessage.version)
                    welcome.put(UInt64(1))
                    welcome.put(UInt64(2))
                    welcome.put(Int64(3))
                    do {
                        _ = try port.trySend(welcome.bytes, id: HubMessage.welcome, to: message.sender)
                    } catch {
                        Issue.record(error)
                    }
                    port.disconnect(message.sender)
                }
            }
            let center = try DistributedNotificationCenter(.hub(named: name, in: names, servesIfFirst: false))
            waitUntil("it has connected eight times") { times.entries.count >= 8 }
            center.invalidate()
            // The pauses are 2, 4, 8 to 128 milliseconds, each shorter by at most a half.
            #expect(times.entries[7] - times.entries[0] >= .milliseconds(127))
        }
        try directory.remove()
    }

    @Test func `a descriptor that is no sealed memory file is no number`() throws {
        let pipe = ReadablePipe()
        #expect(NumberView(pipe.readingEnd) == nil)
        // The other process could cut a file that is not sealed, and one that is too short ends a reader, too.
        for size in [8, 7] {
            let file = try OwnedDescriptor.memory(size: size)
            #expect(NumberView(file.descriptor) == nil)
            // F_ADD_SEALS with F_SEAL_SHRINK, which Glibc's module does not have.
            #expect(fcntl(file.descriptor, 1_033, 2) == 0)
            #expect((NumberView(file.descriptor) == nil) == (size < 8))
        }
        let page = NumberPage()
        page.store(41)
        #expect(NumberView(page.descriptor)?.value == 41)
        page.store(.max)
        #expect(NumberView(page.descriptor)?.value == nil)
    }
}

import DistributedNotifications
import MessagePorts
import RunLoops
import Synchronization
import TestSupport
import Testing

/// The code of the landing page and of the article "Notifications between processes".
struct NotificationsBetweenProcessesSnippets {
    /// A cache that a test looks into.
    private final class Cache: Sendable {
        let log = Mutex<[String]>([])
        let changed = Gate()

        func remove(_ payload: [UInt8]) {
            log.withLock { $0.append(String(decoding: payload, as: UTF8.self)) }
            changed.open()
        }

        func removeAll() { log.withLock { $0.append("all") } }
    }

    struct Price: Codable { var cents: Int }

    @Test func `a worker's cache forgets what another worker has changed`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let cache = Cache()
        try withWorker { loop in
            let name = try PortName("org.example.cache")
            let center = try DistributedNotificationCenter(.hub(named: name, in: names))
            let observation = Self.observe(center, cache, loop)
            #expect(observation.waitUntilConfirmed())
            try center.post("user.changed", payload: Array("42".utf8))
            #expect(cache.changed.wait())
            #expect(cache.log.withLock { $0 } == ["42"])
        }
        try directory.remove()
    }

    @Test func `a handler is tested without a hub`() {
        let cache = Cache()
        func handle(_ event: DistributedNotificationEvent) {
            switch event {
            case .notification(let note): cache.remove(note.payload)
            case .gap: cache.removeAll()
            }
        }
        let poster = DistributedNotification.Poster()
        let changed = DistributedNotification(
            name: "user.changed", payload: Array("42".utf8), poster: poster)
        handle(.notification(changed))
        let gap = DistributedNotificationGap(
            poster: poster, name: nil, sender: nil, from: 2, to: 4, reason: .observerBehind, isCertain: true)
        handle(.gap(gap))
        #expect(cache.log.withLock { $0 } == ["42", "all"])
    }

    private static func observe(
        _ center: DistributedNotificationCenter, _ cache: Cache, _ loop: RunLoop
    ) -> DistributedObservation {
        center.addObserver(forName: "user.changed", on: loop) { event in
            switch event {
            case .notification(let note): cache.remove(note.payload)
            case .gap: cache.removeAll()
            }
        }
    }

    /// Compiled, not called: on the main loop, which tests do not have.
    private static func landing(_ cache: Cache) throws {
        let center = try DistributedNotificationCenter(.hub(named: PortName("org.example.cache")))
        let observation = center.addObserver(forName: "user.changed", on: .main) { event in
            switch event {
            case .notification(let note): cache.remove(note.payload)
            case .gap: cache.removeAll()
            }
        }
        try center.post("user.changed", payload: Array("42".utf8))
        withExtendedLifetime(observation) {}
    }

    private static func settle(_ center: DistributedNotificationCenter) async throws {
        try await center.post("user.changed", payload: Array("42".utf8), until: .settled)
    }

    private static func bound(_ center: DistributedNotificationCenter, _ worker: RunLoopThread) {
        let observation = center.addObserver(
            forName: "price", on: worker.runLoop, capacity: .bounded(100, .dropOldest)
        ) { event in
            if case .gap(let gap) = event { print("too slow:", gap) }
        }
        withExtendedLifetime(observation) {}
    }

    private static func iterate(_ center: DistributedNotificationCenter) async throws {
        for await event in center.notifications(named: "price", capacity: .coalescing) {
            if case .notification(let note) = event { print(try note.decode(Price.self)) }
        }
    }

    private static func serve() throws {
        let hub = try DistributedNotificationHub(named: PortName("org.example.cache"))
        hub.waitUntilInvalid()
    }
}

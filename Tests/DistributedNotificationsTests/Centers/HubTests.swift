import Foundation
import MessagePorts
import RunLoops
import TestSupport
import Testing

@testable import DistributedNotifications

/// Centers that meet at a hub between processes, here all in one.
struct HubTests {
    private func withNames(_ body: (PortName, PortNames) throws -> Void) throws {
        let directory = try ScratchDirectory()
        try body(try PortName("hub"), PortNames(directory: directory.path))
        try directory.remove()
    }

    @Test func `centers find each other through a hub that one of them serves`() throws {
        try withNames { name, names in
            let centers = try (0..<4).map { _ in
                try DistributedNotificationCenter(.hub(named: name, in: names))
            }
            defer { withExtendedLifetime(centers) {} }
            try withWorker { loop in
                let logs = centers.map { _ in EventLog() }
                let observations = zip(centers, logs).map { center, log in
                    center.addObserver(forName: "a", on: loop) { log.append($0) }
                }
                defer { withExtendedLifetime(observations) {} }
                for observation in observations { #expect(observation.waitUntilConfirmed()) }
                for number in 1...100 { try centers[0].post("a", payload: [UInt8(number)]) }
                for log in logs { #expect(log.wait(for: 100).map(\.short) == (1...100).map { "\($0)" }) }
            }
            for center in centers { center.invalidate() }
        }
    }

    // Guarantees: The end of the hub, or of one connection, alone makes no gap.
    @Test func `when the hub ends, another center serves the next one, and nothing is missing`() throws {
        try withNames { name, names in
            var hub: DistributedNotificationHub? = try DistributedNotificationHub(named: name, in: names)
            #expect(hub?.isValid == true)
            let poster = try DistributedNotificationCenter(.hub(named: name, in: names))
            defer { withExtendedLifetime(poster) {} }
            let observer = try DistributedNotificationCenter(.hub(named: name, in: names))
            defer { withExtendedLifetime(observer) {} }
            try withWorker { loop in
                let log = EventLog()
                let observation = observer.addObserver(forName: "a", on: loop) { log.append($0) }
                defer { withExtendedLifetime(observation) {} }
                #expect(observation.waitUntilConfirmed())
                for number in 1...2_000 {
                    try poster.post("a", whenFull: .block(atMost: .seconds(30)))
                    if number == 1_000 {
                        hub?.invalidate()
                        hub = nil
                    }
                }
                #expect(log.wait(for: 2_000).map(\.short) == (1...2_000).map { "\($0)" })
            }
            poster.invalidate()
            observer.invalidate()
        }
    }

    @Test func `a center that may not serve waits for a hub, and keeps its posts`() throws {
        try withNames { name, names in
            let engine = DistributedNotificationEngine.hub(named: name, in: names, servesIfFirst: false)
            let poster = try DistributedNotificationCenter(engine)
            defer { withExtendedLifetime(poster) {} }
            try poster.post("a")
            let hub = try DistributedNotificationHub(named: name, in: names)
            defer { withExtendedLifetime(hub) {} }
            let observer = try DistributedNotificationCenter(engine)
            defer { withExtendedLifetime(observer) {} }
            try withWorker { loop in
                let log = EventLog()
                let observation = observer.addObserver(forName: "a", on: loop, startingWith: .last(10)) {
                    log.append($0)
                }
                defer { withExtendedLifetime(observation) {} }
                #expect(observation.waitUntilConfirmed())
                try poster.post("a")
                #expect(log.wait(for: 2).map(\.short) == ["1", "2"])
            }
            hub.invalidate()
            hub.waitUntilInvalid()
            #expect(!hub.isValid)
        }
    }

    @Test func `a name has one hub, and a hub that loses its name ends`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let hub = try DistributedNotificationHub(named: name, in: names)
        defer { withExtendedLifetime(hub) {} }
        #expect { try DistributedNotificationHub(named: name, in: names) } throws: { error in
            (error as? DistributedNotificationError)?.portError?.nameError?.reason == .taken
        }
        try directory.remove()
        hub.waitUntilInvalid()
        #expect(!hub.isValid)
    }
}

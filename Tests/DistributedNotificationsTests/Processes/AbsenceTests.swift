import Foundation
import MessagePorts
import RunLoops
import TestSupport
import Testing

@testable import DistributedNotifications

/// Processes that come and go at a hub in a process of its own.
struct AbsenceTests {
    @Test func `posters of one process that come and go cost the hub one descriptor`() throws {
        let fleet = try Fleet()
        let hub = fleet.start("hub")
        #expect(fleet.wait(for: "serves", from: hub))
        let (names, name) = (PortNames(directory: fleet.directory.path), try PortName("fleet"))
        let process = fleet.members[hub].child.processID
        func descriptorCount() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        }
        let before = try descriptorCount()
        for _ in 0..<300 {
            let remote = try RemotePort(named: name, in: names, before: .now + .seconds(30))
            var hello = WireWriter()
            hello.put(HubMessage.version)
            hello.put(PosterID.random())
            try remote.send(hello.bytes, id: HubMessage.hello)
            remote.invalidate()
        }
        // The hub has served everything before it answers this one.
        let center = try DistributedNotificationCenter(.hub(named: name, in: names, servesIfFirst: false))
        let observation = center.addObserver(forName: "a", on: .current) { _ in }
        #expect(observation.waitUntilConfirmed())
        #expect(try descriptorCount() - before <= 16)
        center.invalidate()
        try fleet.end()
    }
}

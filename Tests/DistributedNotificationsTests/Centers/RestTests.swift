import MessagePorts
import RunLoops
import TestSupport
import Testing

@testable import DistributedNotifications

struct RestTests {
    // Guarantees: A center and a hub at rest do not wake up.
    @Test func `a center and a hub at rest do not wake up`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let hub = try DistributedNotificationHub(named: name, in: names)
        // Its timer for a missing acknowledgement fires once after the last post.
        var options = DistributedNotificationCenter.Options()
        options.stallTimeout = .milliseconds(100)
        let center = try DistributedNotificationCenter(
            .hub(named: name, in: names, servesIfFirst: false), options: options)
        try withWorker { loop in
            let log = EventLog()
            let observation = center.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            #expect(observation.waitUntilConfirmed())
            try center.post("a")
            #expect(log.wait(for: 1).count == 1)
            #expect(Rest.comes(to: [center.state.loop, hub.loop]))
        }
        hub.invalidate()
        hub.waitUntilInvalid()
        center.invalidate()
        try directory.remove()
    }
}

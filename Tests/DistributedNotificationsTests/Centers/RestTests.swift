import Glibc
import MessagePorts
import RunLoops
import TestSupport
import Testing

@testable import DistributedNotifications

struct RestTests {
    @Test func `a center and a hub at rest do not wake up`() throws {
        let directory = try ScratchDirectory()
        let names = PortNames(directory: directory.path)
        let name = try PortName("hub")
        let hub = try DistributedNotificationHub(named: name, in: names)
        defer { withExtendedLifetime(hub) {} }
        let center = try DistributedNotificationCenter(.hub(named: name, in: names, servesIfFirst: false))
        defer { withExtendedLifetime(center) {} }
        try withWorker { loop in
            let log = EventLog()
            let observation = center.addObserver(forName: "a", on: loop) { log.append($0) }
            defer { withExtendedLifetime(observation) {} }
            #expect(observation.waitUntilConfirmed())
            try center.post("a")
            #expect(log.wait(for: 1).count == 1)
            let loops = [center.state.loop, hub.loop]
            func wakeUps() -> [Int] { loops.map(\.statistics.wakeUps) }
            // The last confirmation may still be on its way at first.
            let deadline = ContinuousClock.now + .seconds(30)
            var before = wakeUps()
            var isAtRest = false
            while !isAtRest && ContinuousClock.now < deadline {
                before = wakeUps()
                usleep(300_000)
                isAtRest = wakeUps() == before
            }
            #expect(isAtRest, "\(before) \(wakeUps())")
        }
        hub.invalidate()
        hub.wait()
        center.invalidate()
        try directory.remove()
    }
}

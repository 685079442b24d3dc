import DistributedNotifications
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A forked child does no harm to the centers and hubs of its parent.
struct HubForkTests {
    @Test func `a forked child that releases a center, an observation and a hub leaves them to its parent`()
        async
    {
        await #expect(processExitsWith: .success) {
            let directory = try ScratchDirectory()
            let names = PortNames(directory: directory.path)
            let name = try PortName("hub")
            var hub: DistributedNotificationHub? = try DistributedNotificationHub(named: name, in: names)
            var center: DistributedNotificationCenter? = try DistributedNotificationCenter(
                .hub(named: name, in: names, servesIfFirst: false))
            let log = EventLog()
            try withWorker { loop in
                var observation = center?.addObserver(forName: "a", on: loop) { log.append($0) }
                #expect(observation?.waitUntilConfirmed() == true)
                let child = Child {
                    observation = nil
                    center = nil
                    hub = nil
                    return 0
                }
                #expect(child.wait() == .exited(0))
                try center?.post("a")
                #expect(log.wait(for: 1).map(\.short) == ["1"])
                observation?.remove()
                center?.invalidate()
                hub?.invalidate()
                hub?.waitUntilInvalid()
            }
            try directory.remove()
        }
    }

    @Test(arguments: ["post", "invalidate", "observe", "remove", "hub"])
    func `a forked child that uses a center ends with a message that says how to fix that`(use: String) async
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [use] in
            let directory = try ScratchDirectory()
            let names = PortNames(directory: directory.path)
            let name = try PortName("hub")
            let hub = try DistributedNotificationHub(named: name, in: names)
            let center = try DistributedNotificationCenter(
                .hub(named: name, in: names, servesIfFirst: false))
            try withWorker { loop in
                let log = EventLog()
                let observation = center.addObserver(forName: "a", on: loop) { log.append($0) }
                #expect(observation.waitUntilConfirmed())
                let child = Child {
                    do {
                        switch use {
                        case "post": try center.post("a")
                        case "invalidate": center.invalidate()
                        case "observe": _ = center.addObserver(forName: "b", on: loop) { _ in }
                        case "remove": observation.remove()
                        default: hub.invalidate()
                        }
                    } catch {}
                    return 0
                }
                let ending = child.wait()
                if case .killed = ending {} else { Issue.record("the child goes on: \(ending)") }
                // The parent's observation, connection and hub go on to work.
                try center.post("a")
                #expect(log.wait(for: 1).map(\.short) == ["1"])
                observation.remove()
                center.invalidate()
                hub.invalidate()
                hub.waitUntilInvalid()
            }
            try directory.remove()
        }
        #expect(result?.message.contains("used in a forked child, where no loop works") == true)
    }
}

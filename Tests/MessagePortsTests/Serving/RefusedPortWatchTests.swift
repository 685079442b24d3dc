import Glibc
import TestSupport
import Testing

import class MessagePorts.MessagePort
import class RunLoops.RunLoop

@testable import MessagePorts
@testable import RunLoops

/// The kernel refuses to watch the set of a port.
@Suite struct RefusedPortWatchTests {
    @Test func `a named port that could not be watched after a change of modes gets its messages later`()
        async
    {
        await #expect(processExitsWith: .success) {
            let names = try OwnNames()
            let name = try PortName("refused")
            let port = try MessagePort(named: name, in: names.names)
            let (goesOn, hasSent) = (Gate(), Gate())
            let sender = try BareThread {
                do {
                    let remote = try RemotePort(named: name, in: names.names, before: .hang)
                    try remote.send([], id: 1, before: .hang)
                    #expect(goesOn.wait())
                    try remote.send([], id: 2, before: .hang)
                } catch { Issue.record(error) }
                hasSent.open()
            }
            try onLoopThread { loop in
                var ids: [UInt32] = []
                try loop.add(port, forMode: .default) { message in ids.append(message.id) }
                while ids.isEmpty { loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) }
                runInAnotherMode(loop)
                goesOn.open()
                #expect(hasSent.wait())
                Faults.refusingWatches(ENOSPC) { _ = loop.run(in: .default, until: .now + .milliseconds(5)) }
                while ids.count < 2 { loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) }
                #expect(ids == [1, 2])
            }
            sender.join()
            port.invalidate()
        }
    }
}

/// Runs the loop in a mode that has no source.
private func runInAnotherMode(_ loop: RunLoop) {
    loop.perform(inModes: [.init("other")]) {}
    loop.run(in: .init("other"), until: .now)
}

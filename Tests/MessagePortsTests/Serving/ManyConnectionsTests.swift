import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A port with higher limits than the defaults accepts more connections.
@Suite struct ManyConnectionsTests {
    @Test func `a port serves and is left by 700 connections of one process, if its limits allow them`() async
    {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 4_096)
            var limits = MessagePort.Options()
            limits.connectionLimit = 1_000
            limits.connectionLimitPerProcess = 1_000
            let stage = try PushStage(limits)
            let count = 700
            try onLoopThread { loop in
                var (remotes, arrived, ended): ([RemotePort], Int, Int) = ([], 0, 0)
                for _ in 0..<count {
                    let remote = try RemotePort(connectingTo: stage.server.name, in: stage.server.names.names)
                    try loop.add(remote, forMode: .common) { _ in arrived += 1 }
                    remote.onEnd { _, _ in ended += 1 }
                    remotes.append(remote)
                }
                for remote in remotes { loop.connect(remote, in: .default) }
                for remote in remotes where try !remote.trySend() { throw Unexpected() }
                let last = try stage.peer(count - 1)
                #expect(stage.port.statistics.connections == count && last.id > 2)
                for peer in stage.peers.entries where try !stage.port.trySend(to: peer) { throw Unexpected() }
                while arrived < count { _ = loop.run(mode: .default, before: .hang) }
                stage.port.invalidate()
                while ended < count { _ = loop.run(mode: .default, before: .hang) }
            }
        }
    }
}

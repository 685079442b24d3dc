import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// In a forked child, ends and removals of the parent's objects give back only the child's copies.
///
/// Each test has a process of its own, which forks.
@Suite struct ForkedEndTests {
    // Guarantees: An end in a forked child calls no handler, and the parent's object continues to work.
    @Test(arguments: StreamSpecimen.Kind.allCases, StreamSpecimen.Act.allCases)
    func `an end or a removal in a forked child calls nothing, and the parent's loop goes on serving`(
        kind: StreamSpecimen.Kind, act: StreamSpecimen.Act
    ) async {
        await #expect(processExitsWith: .success) { [kind, act] in
            for isOnLoopThread in [true, false] {
                let stage = try StreamSpecimenStage(kind)
                let specimen = stage.specimen
                let serve: @Sendable () throws -> Void = {
                    let calls = specimen.calls.count
                    try specimen.provoke()
                    waitUntil("a handler is called") { specimen.calls.count == calls + 1 }
                }
                try serve()
                let fork: @Sendable () -> Child.Ending = {
                    Child {
                        specimen.act(act)
                        if specimen.isOpen() != act.isRemoval { return 1 }
                        if specimen.releases.entries.count != (act.isRemoval ? 0 : 1) { return 2 }
                        return specimen.calls.count == 1 && specimen.ends.entries.isEmpty ? 0 : 3
                    }.wait()
                }
                if isOnLoopThread {
                    #expect(try await stage.thread.runLoop.performAndWait(fork) == .exited(0))
                } else {
                    try BareThread { #expect(fork() == .exited(0)) }.join()
                }
                for _ in 0..<2 { try serve() }
                #expect(specimen.isOpen() && specimen.ends.entries.isEmpty)
                #expect(specimen.releases.entries.isEmpty)
                stage.stop()
                #expect(specimen.releases.entries == [true])
            }
        }
    }

    @Test func `a listener that a forked child ends keeps its file`() async {
        await #expect(processExitsWith: .success) {
            let directory = try ScratchDirectory()
            let path = directory.path + "/socket"
            try onLoopThread { loop in
                let listener = try Listener(.unix(path: path))
                try loop.add(listener, forMode: .default) { accepted in
                    _ = accepted
                    loop.stop()
                }
                let ending = Child {
                    listener.invalidate()
                    return 0
                }.wait()
                #expect(ending == .exited(0))
                let client = Connection(connectingTo: .unix(path: path))
                try loop.add(client, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                client.close()
                listener.invalidate()
                // Safe: the kernel reads the path.
                #expect(unsafe access(path, F_OK) != 0)
            }
            try directory.remove()
        }
    }
}

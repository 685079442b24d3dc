import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A removal in a forked child changes nothing.
///
/// Each test has a process of its own, which forks.
@Suite struct ForkedRemovalTests {
    // Guarantees: A removal in a forked child does nothing.
    @Test(arguments: Specimen.Kind.inputs, [true, false])
    func `a removal in a forked child does nothing, and the parent's loop goes on serving the input`(
        kind: Specimen.Kind, isOnLoopThread: Bool
    ) async {
        await #expect(processExitsWith: .success) { [kind, isOnLoopThread] in
            let stage = try SpecimenStage(kind)
            let loop = stage.thread.runLoop
            let fork: @Sendable () -> Child.Ending = { [stage] in
                Child {
                    let calls = stage.calls.count
                    stage.specimen.remove()
                    stage.specimen.input.map { loop.remove($0) }
                    if !stage.specimen.isValid() { return 1 }
                    return stage.calls.count == calls && stage.releases.entries.isEmpty ? 0 : 2
                }.wait()
            }
            try await loop.performAndWait {}
            if isOnLoopThread {
                #expect(try await loop.performAndWait(fork) == .exited(0))
            } else {
                try BareThread { #expect(fork() == .exited(0)) }.join()
            }
            #expect(stage.releases.entries == [])
            let calls = stage.calls.count
            stage.specimen.provoke()
            waitUntil("the parent's handler is called") { stage.calls.count > calls }
            stage.stop()
        }
    }

    @Test(arguments: [true, false])
    func `ports that a forked child removes deliver in the parent`(isOnLoopThread: Bool) async {
        await #expect(processExitsWith: .success) { [isOnLoopThread] in
            let thread = try RunLoopThread(name: "receiver")
            let loop = thread.runLoop
            let (numbers, signals, calls) = (Port<Int>(), Port<Void>(), Shared())
            try await loop.performAndWait {
                let loop = RunLoop.current
                loop.add(numbers, forMode: .common) { _ in calls.increment() }
                loop.add(signals, forMode: .common) { calls.increment() }
            }
            let fork: @Sendable () -> Child.Ending = {
                Child {
                    for mode in [RunLoop.Mode.common, .default] {
                        loop.remove(numbers, forMode: mode)
                        loop.remove(signals, forMode: mode)
                    }
                    loop.remove(numbers)
                    loop.remove(signals)
                    return numbers.isValid && signals.isValid ? 0 : 1
                }.wait()
            }
            if isOnLoopThread {
                #expect(try await loop.performAndWait(fork) == .exited(0))
            } else {
                #expect(fork() == .exited(0))
            }
            try await numbers.send(1)
            try signals.send()
            waitUntil("both are delivered") { calls.count == 2 }
            thread.stop()
            _ = await thread.join()
        }
    }
}

import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// What a forked child finds of the calls and look-ups of its parent's other threads: nothing.
@Suite struct CallForkTests {
    @Test func `a child does not wait for what its parent's other threads look up`() async {
        await #expect(processExitsWith: .success) {
            let ending = try forkWhile { goesOn in
                CallRecord.current.lookUp { goesOn() }
            } andThen: {
                CallRecord.waitForReaders()
            }
            #expect(ending == .exited(0))
        }
    }

    @Test(arguments: [false, true])
    func `a child does not wait for the end of what its parent's other threads call`(isRemovedBefore: Bool)
        async
    {
        await #expect(processExitsWith: .success) { [isRemovedBefore] in
            let center = NotificationCenter()
            let goesOn = Guarded<(@Sendable () -> Void)?>(nil)
            let own = Guarded<ObservationToken?>(nil)
            let token = center.addObserver(forName: .a) { _ in
                // Then this call's thread was to find that nothing of the observation runs any more.
                if isRemovedBefore { own.withLock { $0 }?.remove() }
                goesOn.withLock { $0 }?()
            }
            own.withLock { $0 = token }
            defer { own.withLock { $0 = nil } }
            let ending = try forkWhile { wait in
                goesOn.withLock { $0 = wait }
                center.post(name: .a)
            } andThen: {
                token.removeAndWait()
            }
            #expect(ending == .exited(0))
        }
    }

    @Test func `what the thread that forks calls goes on in the child`() async {
        await #expect(processExitsWith: .success) {
            let center = NotificationCenter()
            let endings = Log<Child.Ending>()
            let box = Guarded<ObservationToken?>(nil)
            let token = center.addObserver(forName: .a) { _ in
                guard let token = box.withLock({ $0 }) else { return }
                endings.add(Child { token.registration.isRunningHere ? 0 : 1 }.wait())
            }
            box.withLock { $0 = token }
            center.post(name: .a)
            #expect(endings.entries == [.exited(0)])
            box.withLock { $0 = nil }
        }
    }
}

/// Forks while another thread, which has no loop, is in the middle of something.
///
/// - Parameters:
///   - body: What the other thread does; it calls what it is given in the middle.
///   - childBody: What the child does, which is ended if it hangs.
/// - Returns: How the child has ended.
/// - Throws: `SystemError` if there is no thread.
private func forkWhile(
    _ body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, andThen childBody: () -> Void
) throws -> Child.Ending {
    let (isThere, isOver) = (Gate(), Gate())
    let other = try BareThread {
        body {
            isThere.open()
            #expect(isOver.wait())
        }
    }
    #expect(isThere.wait())
    let ending = Child {
        Child.endThisIfItHangs()
        childBody()
        return 0
    }.wait()
    isOver.open()
    other.join()
    return ending
}

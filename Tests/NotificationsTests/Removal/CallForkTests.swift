import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// In a forked child, the calls and look-ups of the parent's other threads do not exist.
@Suite struct CallForkTests {
    // Guarantees: In the child, the calls of those threads count as ended, so a removal that waits does not wait for them.
    @Test func `a child does not wait for look-ups of its parent's other threads`() async {
        await #expect(processExitsWith: .success) {
            let ending = try forkWhile { goesOn in
                CallRecord.current.lookUp { goesOn() }
            } andThen: {
                CallRecord.waitForReaders()
            }
            #expect(ending == .exited(0))
        }
    }

    // Guarantees: In the child, the calls of those threads count as ended, so a removal that waits does not wait for them.
    @Test(arguments: [false, true])
    func `a child does not wait for the end of calls of its parent's other threads`(isRemovedBefore: Bool)
        async
    {
        await #expect(processExitsWith: .success) { [isRemovedBefore] in
            let center = NotificationCenter()
            let goesOn = Guarded<(@Sendable () -> Void)?>(nil)
            let own = Guarded<ObservationToken?>(nil)
            let token = center.addObserver(forName: .a) { _ in
                // The thread of this call must then notice that no other call of the observation is running.
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

    @Test func `a call of the forking thread continues in the child`() async {
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

/// Forks while another thread, which has no loop, is in the middle of its work.
///
/// - Parameters:
///   - body: The work of the other thread, which calls its argument in the middle.
///   - childBody: The body of the child, which is ended if it hangs.
/// - Returns: The ending of the child.
/// - Throws: `SystemError` if the thread cannot be made.
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

import CRunLoops
import TestSupport
import Testing

@testable import RunLoops

/// If a lock could block a forked child for ever, the child ends with a message.
@Suite struct ForkLockTests {
    /// The members that use no loop, only a lock.
    enum Member: String, Codable, CaseIterable {
        case name, statistics, sendRightCount
    }

    // Guarantees: A forked child that needs a lock which another thread of its parent held at the fork ends with the same message.
    @Test(arguments: Member.allCases)
    func `a forked child that needs another thread's lock ends with a message`(member: Member) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [member] in
            try onLoopThread { loop in
                let port = Port<Int>()
                let (isHeld, isOver) = (Gate(), Gate())
                let held: @Sendable () -> Void = {
                    isHeld.open()
                    #expect(isOver.wait())
                }
                let other = try BareThread {
                    switch member {
                    case .name: loop.storedName.withLock { _ in held() }
                    case .statistics: loop.handle.longestHandler.withLock { _ in held() }
                    case .sendRightCount: port.core.rightsRecord.withLock { _ in held() }
                    }
                }
                #expect(isHeld.wait())
                let ending = Child {
                    switch member {
                    case .name: _ = loop.name
                    case .statistics: _ = loop.statistics
                    case .sendRightCount: _ = port.sendRightCount
                    }
                    return 0
                }.wait()
                isOver.open()
                other.join()
                #expect(ending.isTrap)
            }
        }
        expect(result, says: "RunLoop: used in a forked child, where no loop works; ")
    }

    @Test func `a lock that forks take shares no cache line with another one`() {
        // Processors fetch cache lines in pairs.
        #expect(runloops_fork_lock_stride() >= 128)
        #expect(runloops_fork_lock_stride().isMultiple(of: 128))
    }
}

import CRunLoops
import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The lock around the values that threads share.
@Suite struct GuardedTests {
    @Test func `the kernel knows the thread that holds a lock`() throws {
        let lock = Guarded(0)
        let isKnown = Shared()
        try BareThread {
            // The kernel requires this of a mutex with priority inheritance: the word is the owner's thread ID.
            lock.withLock { _ in
                let owner = unsafe lock.mutex.pointee.__data.__lock & 0x3FFF_FFFF
                if owner == runloops_thread_id() { isKnown.increment() }
            }
        }.join()
        #expect(isKnown.count == 1)
        unsafe #expect(lock.mutex.pointee.__data.__lock == 0)
    }

    // Guarantees: While a real-time thread waits for a lock of the library that a fork does not take, the thread that holds the
    // lock has its priority, unless the kernel was built without priority inheritance.
    @Test(.enabled(if: realTimeIsAllowed))
    func `a thread that holds a lock has the priority of the real-time thread that waits for it`() throws {
        let lock = Guarded(0)
        let (isHeld, isOver) = (Gate(), Gate())
        let probes = Log<ThreadProbe>()
        let holder = try BareThread {
            #expect(runloops_schedule_idle() == 0)
            probes.add(.current)
            lock.withLock { _ in
                isHeld.open()
                #expect(isOver.wait())
            }
        }
        #expect(isHeld.wait())
        let probe = try #require(probes.entries.first)
        #expect(try #require(probe.priority) > 0)
        let waiter = try BareThread {
            #expect(runloops_schedule_fifo(1) == 0)
            probes.add(.current)
            lock.withLock { $0 = 1 }
        }
        waitUntil("the waiter sleeps in the lock") {
            // A thread that is about to sleep sets the highest bit of the word, or the value 2 without priority inheritance.
            let word = UInt32(bitPattern: unsafe lock.mutex.pointee.__data.__lock)
            return (word & 1 << 31 != 0 || word == 2) && probes.entries.last?.isAsleep == true
        }
        // The kernel has raised the priority before the waiter fell asleep.
        #expect(try #require(probe.priority) < 0)
        isOver.open()
        waiter.join()
        holder.join()
        lock.withLock { #expect($0 == 1) }
    }
}

/// True if this process is allowed to have real-time threads.
private let realTimeIsAllowed: Bool = {
    let isAllowed = Shared()
    do {
        try BareThread { if runloops_schedule_fifo(1) == 0 { isAllowed.increment() } }.join()
    } catch { return false }
    return isAllowed.count == 1
}()

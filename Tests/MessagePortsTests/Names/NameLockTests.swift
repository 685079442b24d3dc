import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Names whose owner is ending, or is not there.
@Suite struct NameLockTests {
    /// A lock file that is locked, without a port, as that of a process that is being killed.
    private func withLockedName(_ body: (PortNames, String, _ unlock: () -> Void) throws -> Void) throws {
        let directory = try ScratchDirectory()
        // Safe: the kernel reads the string.
        let file = unsafe open(directory.path + "/.test.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(file, LOCK_EX) == 0)
        var isLocked = true
        let unlock = {
            if isLocked { close(file) }
            isLocked = false
        }
        try body(PortNames(directory: directory.path), directory.path, unlock)
        unlock()
        try directory.remove()
    }

    @Test func `a name is free when its owner has ended, even if the kernel is still releasing the lock`()
        throws
    {
        try withLockedName { _, path, unlock in
            var tries = 0
            _ = try NameLock(
                PortName("test"), in: NameDirectory(.directory(path), makes: false)
            ) {
                tries += 1
                if tries == 2 { unlock() }
            }
            #expect(tries >= 2)
        }
    }

    @Test func `a name that stays locked is taken`() throws {
        try withLockedName { names, _, _ in
            let name = try PortName("test")
            #expect(throws: MessagePortError.name(.taken(name))) {
                _ = try MessagePort(named: name, in: names)
            }
        }
    }
}

import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A descriptor with an owner is closed when its owner is destroyed, and not before.
@Suite struct OwnedDescriptorTests {
    @Test func `a descriptor is closed when its owner is destroyed`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        do {
            let owned = OwnedDescriptor(wire.giveAwayNear())
            #expect(sees(owned.descriptor) && !wire.isNearClosed())
        }
        #expect(wire.nearCloses())
    }

    @Test func `a descriptor that is released stays open`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        let number = OwnedDescriptor(wire.giveAwayNear()).release()
        #expect(!wire.isNearClosed())
        close(number)
        #expect(wire.nearCloses())
    }

    @Test func `a duplicate has an owner of its own, and is not inherited`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        var second: OwnedDescriptor
        do {
            let first = OwnedDescriptor(wire.giveAwayNear())
            second = try first.duplicate()
        }
        let number = second.descriptor
        #expect(!wire.isNearClosed() && fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        _ = consume second
        #expect(wire.nearCloses())
    }

    @Test func `a duplicate that the kernel refuses is an error, and the first descriptor is unchanged`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let wire = try Wire.sockets()
            let first = OwnedDescriptor(wire.giveAwayNear())
            let bound = try boundOfDescriptors()
            #expect(refusal(bound, free: 0) { _ = try first.duplicate() } == EMFILE)
            #expect(refusal(bound, free: 1) { _ = try first.duplicate() } == nil)
            #expect(!wire.isNearClosed())
        }
    }

    @Test func `a number that is not a descriptor is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OwnedDescriptor(-1)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            message.contains(
                "OwnedDescriptor.init: -1 is not a descriptor; check the result of the system call first"))
    }
}

/// True if a descriptor is open.
private func sees(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) != -1 }

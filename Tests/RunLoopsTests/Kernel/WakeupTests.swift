import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// The descriptor that wakes a loop, at the end of the loop's thread.
@Suite struct WakeupTests {
    @Test func `the end waits for a sender that is about to write, and no other sender writes then`() throws {
        let box = try Box()
        let isWriting = Gate()
        let sender = try BareThread {
            box.wakeup.signal {
                isWriting.open()
                // Until the other thread has begun to end the descriptor.
                var writes = true
                while writes {
                    writes = false
                    box.wakeup.signal { writes = true }
                }
                #expect(fcntl(box.wakeup.descriptor, F_GETFD) != -1)
            }
        }
        #expect(isWriting.wait())
        box.wakeup.end()
        box.wakeup.signal { Issue.record("the descriptor is closed") }
        sender.join()
    }

    @Test func `a descriptor that was closed at the loop's end is not closed again`() async {
        await #expect(processExitsWith: .success) {
            try warmUpRuntime()
            var box = try Box() as Box?
            let number = box?.wakeup.descriptor ?? -1
            box?.wakeup.end()
            let wire = try Wire.pipe()
            #expect(dup2(wire.near, number) == number)
            box = nil
            #expect(fcntl(number, F_GETFD) != -1)
        }
    }
}

private final class Box: Sendable {
    let wakeup: Wakeup
    init() throws { wakeup = try Wakeup() }
}

import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The table of the thread that serves each port set.
@Suite struct PortSetServersTests {
    @Test func `of threads that serve a set in turn the table names the last one, and no other`() throws {
        // An identity that no set has: identities of sets are addresses.
        let set: UInt = 1
        let server = Server()
        let goes = Gate()
        let (changed, checked) = (Shared(), Shared())
        let servers = Log<UInt>()
        let threads = try Threads(2) { index in
            if index == 0 {
                PortSetServers.record(set, server.number, to: PortSetServers.thread) {
                    goes.open()
                    // Long enough for the other thread to overtake this one, if that were possible.
                    let end = ContinuousClock.now + .milliseconds(50)
                    while changed.count == 0 && .now < end {}
                }
            } else {
                #expect(goes.wait())
                PortSetServers.record(set, server.number, to: PortSetServers.thread)
            }
            changed.increment()
            waitUntil("both have said so") { changed.count == 2 }
            if PortSetServers.isServedHere(set) { servers.add(PortSetServers.thread) }
            checked.increment()
            waitUntil("both have looked") { checked.count == 2 }
        }
        try threads.join()
        #expect(servers.entries == [server.number.load(ordering: .relaxed)])
    }

    // Guarantees: A wait that is in no circle is never refused; here, a request counts as a wait for the loop that has its port,
    // whichever thread has the right to answer, and a wait for a port in a ``PortSet`` counts as a wait for the thread that serves
    // the set at that moment.
    @Test func `a wait for a set is a wait for the thread that serves it at that moment`() {
        // An identity that no set has.
        let set: UInt = 2
        let server = Server()
        #expect(PortSetServers.waitTarget(of: set) == .loop(set))
        for thread: UInt in [.max, .max - 1] {
            PortSetServers.record(set, server.number, to: thread)
            #expect(PortSetServers.waitTarget(of: set) == .thread(thread))
        }
        PortSetServers.record(set, server.number, to: 0)
        #expect(PortSetServers.waitTarget(of: set) == .loop(set))
    }
}

private final class Server: Sendable {
    let number = Atomic<UInt>(0)
}

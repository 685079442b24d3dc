import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A port leaves a mode, by its own handler or by the destruction of a handler's captures.
@Suite struct PortLeavingTests {
    private static let modal = RunLoop.Mode("modal")

    @Test(arguments: [RunLoop.Mode.default, .common])
    func `a handler's captures may remove the port once more when they are destroyed, and add it again`(
        mode: RunLoop.Mode
    ) throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let log = Log<String>()
            func addAnew(_ name: String) {
                let parting = Parting {
                    log.add("\(name) goes")
                    loop.remove(port, forMode: mode)
                    for mode in [mode, Self.modal] {
                        loop.add(port, forMode: mode) { log.add("again \($0)") }
                    }
                    loop.remove(port, forMode: Self.modal)
                }
                loop.add(port, forMode: mode) { number in
                    parting.hold()
                    log.add("\(name) \(number)")
                }
            }
            addAnew("first")
            // This handler stays, so the port is still in the loop when the other handler is destroyed.
            loop.add(port, forMode: .init("other")) { log.add("other \($0)") }
            try port.send(1)
            loop.settle()
            loop.remove(port, forMode: mode)
            try port.send(2)
            loop.settle()
            loop.remove(port, forMode: mode)
            try port.send(3)
            loop.settle(in: .init("other"))
            #expect(log.entries == ["first 1", "first goes", "again 2", "other 3"])
        }
    }

    @Test func `a handler that was replaced gets no more, though the port stays in another mode`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let log = Log<String>()
            loop.add(port, forMode: Self.modal) { log.add("modal \($0)") }
            loop.add(port, forMode: .default) { number in
                log.add("first \(number)")
                loop.remove(port, forMode: .default)
                loop.add(port, forMode: .default) { log.add("second \($0)") }
            }
            try port.send(contentsOf: [1, 2, 3])
            loop.settle()
            #expect(log.entries == ["first 1", "second 2", "second 3"])
        }
    }

    @Test
    func
        `a handler that takes its port out of the mode gets no more, though it runs the loop in another one`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: .unlimited)
            var received: [Int] = []
            var inside = 0
            loop.add(port, forMode: Self.modal) { _ in inside += 1 }
            loop.add(port, forMode: .default) { number in
                received.append(number)
                loop.remove(port, forMode: .default)
                // One pass serves some of the messages, but not all.
                loop.run(in: Self.modal, until: .distantPast, returnAfterSourceHandled: true)
            }
            loop.add(Port<Int>(), forMode: .default) { _ in }
            let count = 5_000
            try port.send(contentsOf: 0..<count)
            loop.pass()
            #expect(received == [0])
            #expect(inside > 0 && inside < count - 1)
            loop.settle(in: Self.modal)
            #expect(inside == count - 1)
        }
    }
}

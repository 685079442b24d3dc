import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// An object that only a port's handler holds is destroyed with the handler, and can change the port meanwhile.
@Suite struct HandlerPartingTests {
    @Test(arguments: [RunLoop.Mode.default, .common], [false, true])
    func `an object released with a handler of a named port may remove the port again, and add it again`(
        mode: RunLoop.Mode, staysInAnother: Bool
    ) throws {
        try onLoopThread { loop in
            let names = try OwnNames()
            let port = try MessagePort(named: PortName("parting"), in: names.names)
            // The port ends before the directory of its name.
            defer { withExtendedLifetime(names) { port.invalidate() } }
            let remote = try Threads(1) { _ in
                let remote = try RemotePort(named: port.name, in: names.names, before: .hang)
                for number in 1...2 { _ = try remote.request(id: UInt32(number), before: .hang) }
            }
            let log = Log<String>()
            func serve(_ name: String) -> (consuming MessagePort.Message) -> Void {
                { message in
                    log.add("\(name) \(message.id)")
                    do { try message.reply() } catch { Issue.record(error) }
                }
            }
            func addOnce() throws {
                let parting = Parting {
                    log.add("goes")
                    loop.remove(port, forMode: mode)
                    do { try loop.add(port, forMode: mode, handler: serve("again")) } catch {
                        Issue.record(error)
                    }
                }
                let first = serve("first")
                try loop.add(port, forMode: mode) { message in
                    parting.hold()
                    first(message)
                }
            }
            try addOnce()
            if staysInAnother { try loop.add(port, forMode: .init("other")) { _ = $0.id } }
            waitUntil("the first was served") {
                loop.pass()
                return log.entries == ["first 1"]
            }
            loop.remove(port, forMode: mode)
            waitUntil("the second was served") {
                loop.pass()
                return log.entries == ["first 1", "goes", "again 2"]
            }
            try remote.join()
        }
    }

    @Test func `calling onPeerEnd while the replaced handler is destroyed takes effect`() throws {
        try onLoopThread { loop in
            let names = try OwnNames()
            let port = try MessagePort(named: PortName("parting"), in: names.names)
            // The port ends before the directory of its name.
            defer { withExtendedLifetime(names) { port.invalidate() } }
            try loop.add(port, forMode: .default) { _ = $0.id }
            let log = Log<String>()
            func askLater() {
                let parting = Parting { port.onPeerEnd { _, _ in log.add("third") } }
                port.onPeerEnd { _, _ in parting.hold() }
            }
            askLater()
            port.onPeerEnd { _, _ in log.add("second") }
            let remote = try Threads(1) { _ in
                try RemotePort(named: port.name, in: names.names, before: .hang).invalidate()
            }
            waitUntil("the end was reported") {
                loop.pass()
                return log.entries == ["third"]
            }
            try remote.join()
        }
    }
}

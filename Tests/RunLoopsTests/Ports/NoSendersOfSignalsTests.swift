import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The no-senders notice of a signal port is not mistaken for a signal.
@Suite struct NoSendersOfSignalsTests {
    @Test func `a signal port delivers its no-senders notice without a signal, after earlier signals`() throws
    {
        try onLoopThread { loop in
            let port = Port<Void>()
            var log: [String] = []
            loop.add(port, forMode: .default) { log.append("signal") }
            port.onNoSenders { _ in log.append("none") }
            _ = port.makeSendRight()
            loop.settle()
            #expect(log == ["none"])
            var right: SendRight? = port.makeSendRight()
            try right?.send()
            right = nil
            loop.settle()
            #expect(log == ["none", "signal", "none"])
            _ = port.makeSendRight()
            try port.send()
            loop.settle()
            #expect(log == ["none", "signal", "none", "signal", "none"])
            withExtendedLifetime(right) {}
        }
    }

    @Test func `a notice of a port of signals outlasts its removal from a mode, and from the loop`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            let other = RunLoop.Mode("other")
            var log: [String] = []
            loop.add(port, forMode: .default) { [weak port] in
                log.append("signal")
                if let port { loop.remove(port, forMode: .default) }
            }
            loop.add(port, forMode: other) { log.append("other") }
            port.onNoSenders { _ in log.append("none") }
            _ = port.makeSendRight()
            try port.send()
            loop.pass()
            #expect(log == ["signal"])
            loop.settle(in: other)
            #expect(log == ["signal", "none"])

            _ = port.makeSendRight()
            loop.remove(port, forMode: other)
            loop.add(port, forMode: .default) { log.append("again") }
            port.onNoSenders { _ in log.append("late") }
            loop.settle()
            #expect(log == ["signal", "none", "late"])
        }
    }

    @Test func `a notice behind a signal whose handler takes the port out of the loop waits in the port`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Void>()
            var log: [String] = []
            loop.add(port, forMode: .default) { [weak port] in
                log.append("signal")
                if let port { loop.remove(port, forMode: .default) }
            }
            port.onNoSenders { _ in log.append("none") }
            _ = port.makeSendRight()
            try port.send()
            loop.settle()
            #expect(log == ["signal"])
            loop.add(port, forMode: .default) { log.append("again") }
            port.onNoSenders { _ in log.append("late") }
            loop.settle()
            #expect(log == ["signal", "late"])
        }
    }

    @Test func `a nudge wakes the receiver as a ring does, and is no ring`() {
        let bell = Doorbell()
        let node = Node.make()
        defer { PortCore.discard(node) }
        let quiet = bell.nudge()
        #expect(quiet == nil)
        let (isEither, isRung) = (bell.isNudgedOrRung, bell.isRung)
        #expect(isEither && !isRung)
        let isArmed = bell.armUnlessRung(with: node)
        #expect(!isArmed)
        let answered = bell.arm(with: node)
        #expect(!answered)
        let woken = [bell.nudge(), bell.nudge()]
        #expect(woken == [node, nil])
    }

    @Test func `a ring stays a ring, with any nudges before and after it`() {
        let bell = Doorbell()
        let node = Node.make()
        defer { PortCore.discard(node) }
        _ = bell.nudge()
        _ = bell.ring()
        _ = bell.nudge()
        let isRung = bell.isRung
        #expect(isRung)
        let answered = bell.arm(with: node)
        #expect(answered)
        let woken = bell.ring()
        #expect(woken == node)
    }
}

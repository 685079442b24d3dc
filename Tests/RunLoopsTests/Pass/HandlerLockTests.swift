import Glibc
import RunLoops
import TestSupport
import Testing

/// A handler waits for another thread, which uses the handler's loop and its inputs meanwhile.
@Suite struct HandlerLockTests {
    /// The kinds of handlers.
    enum Kind: String, Codable, CaseIterable {
        case block, timer, manualSource, port, signalPort, descriptor, observer
    }

    // Guarantees: No handler of yours is called while the library holds a lock.
    @Test(arguments: Kind.allCases)
    func `no lock is held while a handler of a loop is called`(kind: Kind) throws {
        let other = try RunLoopThread(name: "other")
        let user = try RunLoopThread(name: "user")
        let port = Port<Int>()
        let signals = Port<Void>()
        let answers = Log<String>()
        let wire = try Wire.pipe()
        try user.runLoop.performAndWait {
            let loop = RunLoop.current
            let hasWaited = Shared()
            // Each handler waits once.
            let once: @Sendable () -> Void = {
                if hasWaited.increment() > 0 { return }
                let done = Gate()
                other.runLoop.perform {
                    do {
                        loop.perform {}
                        loop.perform(after: .seconds(3_600)) {}.cancel()
                        loop.wakeUp()
                        loop.name = "used"
                        _ = loop.statistics
                        try port.send(1, before: .now + .seconds(300))
                        let right = port.makeSendRight()
                        try right.send(2, before: .now + .seconds(300))
                        _ = port.sendRightCount
                        try signals.send()
                        answers.add(kind.rawValue)
                    } catch { Issue.record(error) }
                    done.open()
                }
                #expect(done.wait())
                loop.stop()
            }
            loop.add(port, forMode: .default) { _ in if kind == .port { once() } }
            loop.add(signals, forMode: .default) { if kind == .signalPort { once() } }
            switch kind {
            case .block: loop.perform(once)
            case .timer:
                loop.add(Timer(timeInterval: .zero, repeats: false) { _ in once() }, forMode: .default)
            case .manualSource:
                let source = ManualSource { once() }
                loop.add(source, forMode: .default)
                source.signal()
            case .port: do { try port.send(0) } catch { Issue.record(error) }
            case .signalPort: do { try signals.send() } catch { Issue.record(error) }
            case .descriptor:
                wire.send()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                    _ = wire.drain()
                    once()
                }
                try loop.add(source, forMode: .default)
            case .observer:
                loop.add(
                    RunLoop.Observer(activities: .beforeSources, repeats: false) { _, _ in once() },
                    forMode: .default)
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            loop.remove(port, forMode: .default)
            loop.remove(signals, forMode: .default)
        }
        #expect(answers.entries == [kind.rawValue])
        wire.close()
        for thread in [user, other] {
            thread.stop()
            thread.join()
        }
    }
}

import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// What only a handler holds goes with it, and may end the handler's input once more.
@Suite struct HandlerPartingTests {
    /// Whose handler it is.
    enum Input: String, CaseIterable, Codable {
        case timer, observer, manualSource, looseManualSource, signalSource, processSource, descriptorSource
    }

    /// Makes an input whose handler alone holds something that invalidates it when it goes.
    ///
    /// - Returns: What invalidates the input.
    private static func make(_ input: Input, in loop: RunLoop, _ log: Log<String>) throws -> () -> Void {
        var invalidate: (() -> Void)?
        let parting = Parting {
            log.add("goes")
            invalidate?()
        }
        let handler = { parting.hold() }
        switch input {
        case .timer:
            let timer = Timer(timeInterval: .seconds(60), repeats: true) { _ in handler() }
            loop.add(timer, forMode: .default)
            invalidate = { [unowned timer] in timer.invalidate() }
        case .observer:
            let observer = RunLoop.Observer(activities: .exit) { _, _ in handler() }
            loop.add(observer, forMode: .default)
            invalidate = { [unowned observer] in observer.invalidate() }
        case .manualSource, .looseManualSource:
            // Safe: the source stays on this thread.
            nonisolated(unsafe) let held = parting
            let source = ManualSource { unsafe held.hold() }
            if input == .manualSource {
                loop.add(source, forMode: .default)
                invalidate = { [unowned source] in source.invalidate() }
            } else {
                // In no loop, it is held here.
                invalidate = { source.invalidate() }
            }
        case .signalSource:
            let source = try SignalSource(SIGUSR1) { _, _ in handler() }
            try loop.add(source, forMode: .default)
            invalidate = { [unowned source] in source.invalidate() }
        case .processSource:
            let source = try ProcessSource(getppid()) { _, _ in handler() }
            try loop.add(source, forMode: .default)
            invalidate = { [unowned source] in source.invalidate() }
        case .descriptorSource:
            let source = DescriptorSource(
                try Wire.pipe().giveAwayNear(), interest: .read, closesDescriptor: true
            ) { _, _ in handler() }
            try loop.add(source, forMode: .default)
            invalidate = { [unowned source] in source.invalidate() }
        }
        return { invalidate?() }
    }

    @Test(arguments: Input.allCases)
    func `what goes when an input is invalidated may invalidate it again`(input: Input) async throws {
        // A process of its own: some belong to the process.
        try await #require(processExitsWith: .success) { [input = input as Input] in
            try onLoopThread { loop in
                let log = Log<String>()
                let invalidate = try Self.make(input, in: loop, log)
                invalidate()
                #expect(log.entries == ["goes"])
            }
        }
    }

    @Test(arguments: [Input.timer, .observer])
    func `what goes when its loop ends may invalidate the input`(input: Input) throws {
        let log = Log<String>()
        try BareThread {
            do { _ = try Self.make(input, in: RunLoop.current, log) } catch { Issue.record(error) }
        }.join()
        #expect(log.entries == ["goes"])
    }

    @Test func `what asks for no senders again when its handler is replaced is heard`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let log = Log<String>()
            loop.add(port, forMode: .default) { _ in }
            func askLater() {
                let parting = Parting { port.onNoSenders { log.add("third") } }
                port.onNoSenders { parting.hold() }
            }
            askLater()
            port.onNoSenders { log.add("second") }
            _ = port.makeSendRight()
            loop.settle()
            #expect(log.entries == ["third"])
        }
    }

    @Test(arguments: [RunLoop.Mode.default, .common], [false, true])
    func `what goes with a handler of a port with a name may remove the port once more, and add it again`(
        mode: RunLoop.Mode, staysInAnother: Bool
    ) throws {
        try onLoopThread { loop in
            let names = try OwnNames()
            let port = try MessagePort(name: PortName("parting"), in: names.names)
            // In this order: the name is in the directory.
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

    @Test func `what asks for ends of peers again when its handler is replaced is heard`() throws {
        try onLoopThread { loop in
            let names = try OwnNames()
            let port = try MessagePort(name: PortName("parting"), in: names.names)
            // In this order: the name is in the directory.
            defer { withExtendedLifetime(names) { port.invalidate() } }
            try loop.add(port, forMode: .default) { _ = $0.id }
            let log = Log<String>()
            func askLater() {
                let parting = Parting { port.onPeerEnd { _ in log.add("third") } }
                port.onPeerEnd { _ in parting.hold() }
            }
            askLater()
            port.onPeerEnd { _ in log.add("second") }
            let remote = try Threads(1) { _ in
                try RemotePort(named: port.name, in: names.names, before: .hang).invalidate()
            }
            waitUntil("the end was told") {
                loop.pass()
                return log.entries == ["third"]
            }
            try remote.join()
        }
    }
}

import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// An object that only a handler holds is destroyed with the handler, and can invalidate the handler's input once more.
@Suite struct HandlerPartingTests {
    /// The input that has the handler.
    enum Input: String, CaseIterable, Codable {
        case timer, observer, manualSource, looseManualSource, signalSource, processSource, descriptorSource
    }

    /// Makes an input whose handler holds an object that invalidates the input when the object is destroyed.
    ///
    /// - Returns: A closure that invalidates the input.
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
                // The source is in no loop, so the closure holds it.
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
                try OwnedDescriptor(Wire.pipe().giveAwayNear()), interest: .read
            ) { _, _ in handler() }
            try loop.add(source, forMode: .default)
            invalidate = { [unowned source] in source.invalidate() }
        }
        return { invalidate?() }
    }

    @Test(arguments: Input.allCases)
    func `what goes when an input is invalidated may invalidate it again`(input: Input) async throws {
        // In a process of its own, because some inputs belong to the process.
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
                let parting = Parting { port.onNoSenders { _ in log.add("third") } }
                port.onNoSenders { _ in parting.hold() }
            }
            askLater()
            port.onNoSenders { _ in log.add("second") }
            _ = port.makeSendRight()
            loop.settle()
            #expect(log.entries == ["third"])
        }
    }
}

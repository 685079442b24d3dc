import Glibc
import RunLoops
import TestSupport
import Testing

/// An object of one kind that belongs to a loop, for tests that end it from anywhere.
///
/// `@unchecked Sendable`: the loop's thread makes the object, adds it and makes it due. The tests end and remove it on any thread.
final class Specimen: @unchecked Sendable {
    /// The kinds of objects that any thread can end.
    enum Kind: String, Codable, CaseIterable {
        case timer, wallClockTimer, descriptor, observer, manual, signal, process, library, gracefulStop,
            endHandler

        /// The kinds that are in modes.
        static let inputs = allCases.filter { $0 != .endHandler }
    }

    let end: () -> Void
    let isValid: () -> Bool
    /// Makes the object due, so that its loop would call the handler.
    let provoke: () -> Void
    let add: () throws -> Void
    let remove: () -> Void
    /// The object itself; nil for an end handler, which is in no mode.
    let input: (any RunLoopInput)?
    /// Releases what the object has used, after the test.
    let clean: () -> Void

    private init(
        end: @escaping () -> Void, isValid: @escaping () -> Bool = { false },
        provoke: @escaping () -> Void = {}, add: @escaping () throws -> Void = {},
        remove: @escaping () -> Void = {}, input: (any RunLoopInput)? = nil,
        clean: @escaping () -> Void = {}
    ) {
        self.end = end
        self.isValid = isValid
        self.provoke = provoke
        self.add = add
        self.remove = remove
        self.input = input
        self.clean = clean
    }

    private static let signal: CInt = 40
    private static let stopSignal: CInt = 41

    /// Makes an object with a handler, on the thread of the loop, and adds it to the default mode.
    static func make(_ kind: Kind, in loop: RunLoop, _ handler: @escaping () -> Void) throws -> Specimen {
        let made = try makeAlone(kind, in: loop, handler)
        try made.add()
        return made
    }

    private static func makeAlone(
        _ kind: Kind, in loop: RunLoop, _ handler: @escaping () -> Void
    ) throws -> Specimen {
        switch kind {
        case .timer:
            let timer = Timer(timeInterval: .zero, repeats: true) { _ in handler() }
            return Specimen(
                end: { timer.invalidate() }, isValid: { timer.isValid },
                add: { loop.add(timer, forMode: .default) },
                remove: { loop.remove(timer, forMode: .default) }, input: timer)
        case .wallClockTimer:
            let timer = WallClockTimer {
                $0 + .microseconds(100)
            } handler: { _ in
                handler()
            }
            return Specimen(
                end: { timer.invalidate() }, isValid: { timer.isValid },
                add: { try loop.add(timer, forMode: .default) },
                remove: { loop.remove(timer, forMode: .default) }, input: timer)
        case .descriptor:
            let wire = try Wire.pipe()
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                wire.drain()
                handler()
            }
            return Specimen(
                end: { source.invalidate() }, isValid: { source.isValid }, provoke: { wire.send() },
                add: { try loop.add(source, forMode: .default) },
                remove: { loop.remove(source, forMode: .default) }, input: source, clean: { wire.close() })
        case .observer:
            let observer = RunLoop.Observer(activities: .beforeTimers) { _, _ in handler() }
            return Specimen(
                end: { observer.invalidate() }, isValid: { observer.isValid }, provoke: { loop.wakeUp() },
                add: { loop.add(observer, forMode: .default) },
                remove: { loop.remove(observer, forMode: .default) }, input: observer)
        case .manual:
            nonisolated(unsafe) let handler = handler
            let source = ManualSource { unsafe handler() }
            return Specimen(
                end: { source.invalidate() }, isValid: { source.isValid }, provoke: { source.signal() },
                add: { loop.add(source, forMode: .default) },
                remove: { loop.remove(source, forMode: .default) }, input: source)
        case .signal:
            let source = try SignalSource(signal) { _, _ in handler() }
            return Specimen(
                end: { source.invalidate() }, isValid: { source.isValid },
                provoke: { if source.isValid { Signals.send(Specimen.signal) } },
                add: { try loop.add(source, forMode: .default) },
                remove: { loop.remove(source, forMode: .default) }, input: source)
        case .process:
            let child = Child(shell: "exec sleep 600")
            let source = try ProcessSource(child.processID) { _, _ in handler() }
            return Specimen(
                end: { source.invalidate() }, isValid: { source.isValid },
                provoke: { kill(child.processID, SIGKILL) },
                add: { try loop.add(source, forMode: .default) },
                remove: { loop.remove(source, forMode: .default) }, input: source,
                clean: {
                    kill(child.processID, SIGKILL)
                    child.wait()
                })
        case .library:
            let wire = try Wire.pipe()
            let source = try LibrarySource { source in
                while source.nextReport() != nil { wire.drain() }
                handler()
            }
            source.setInterest(.read, of: wire.near)
            return Specimen(
                end: { source.invalidate() }, isValid: { source.isValid }, provoke: { wire.send() },
                add: { try loop.add(source, forMode: .default) },
                remove: { loop.remove(source, forMode: .default) }, input: source, clean: { wire.close() })
        case .gracefulStop:
            let stop = try GracefulStop(signals: [stopSignal], within: .seconds(600)) { _ in handler() }
            stop.onForcedEnd { _, _ in }
            return Specimen(
                end: { stop.invalidate() }, isValid: { stop.isValid },
                provoke: { if stop.isValid { Signals.send(Specimen.stopSignal) } },
                add: { try loop.add(stop, forMode: .default) },
                remove: { loop.remove(stop, forMode: .default) }, input: stop)
        case .endHandler:
            let handle = loop.addEndHandler(handler)
            return Specimen(end: { handle.cancel() })
        }
    }
}

/// A thread whose loop has one ``Specimen``, with a count of the calls and a record of the release of its handler.
final class SpecimenStage: Sendable {
    let thread: RunLoopThread
    let specimen: Specimen
    let calls: Shared
    /// For each release of the handler, true if it was on the thread of the loop.
    let releases: Log<Bool>
    let isReleased: Gate

    /// Starts the thread with a specimen, whose handler calls `body`.
    init(_ kind: Specimen.Kind, _ body: @escaping @Sendable (Specimen) -> Void = { _ in }) throws {
        let (calls, releases, isReleased) = (Shared(), Log<Bool>(), Gate())
        (self.calls, self.releases, self.isReleased) = (calls, releases, isReleased)
        thread = try RunLoopThread(name: "specimen")
        specimen = try thread.runLoop.performAndWait {
            let loop = RunLoop.current
            let parting = Parting {
                releases.add(loop.isCurrent)
                isReleased.open()
            }
            let itself = Link()
            let made = try Specimen.make(kind, in: loop) {
                parting.hold()
                calls.increment()
                if let specimen = itself.specimen { body(specimen) }
            }
            itself.specimen = made
            return made
        }
    }

    private final class Link { weak var specimen: Specimen? }

    /// Makes the specimen due in a block of the loop, and calls a closure on this thread before the block returns.
    func whileItIsDue(_ body: () throws -> Void) throws {
        let (isDue, isOver) = (Gate(), Gate())
        thread.runLoop.perform { [specimen] in
            specimen.provoke()
            isDue.open()
            _ = isOver.wait()
        }
        defer { isOver.open() }
        try #require(isDue.wait())
        try body()
    }

    /// Lets the loop make some passes.
    func pass() throws { for _ in 0..<3 { try thread.runLoop.performAndWait {} } }

    /// Ends the thread.
    func stop() {
        thread.stop()
        thread.join()
        specimen.clean()
    }
}

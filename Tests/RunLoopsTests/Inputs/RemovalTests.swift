import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Any thread can remove an input from a mode.
///
/// The tests of this suite use the same signals, so they run one after the other.
@Suite(.serialized) struct RemovalTests {
    // Guarantees: After a removal on any thread has returned, no call of the object's handlers begins in that mode.
    @Test(arguments: Specimen.Kind.inputs)
    func `no call begins after a removal elsewhere has returned, and the input can be added again`(
        kind: Specimen.Kind
    ) throws {
        let stage = try SpecimenStage(kind)
        var calls = 0
        try stage.whileItIsDue {
            calls = stage.calls.count
            try BareThread { [specimen = stage.specimen] in specimen.remove() }.join()
        }
        try stage.pass()
        #expect(stage.calls.count == calls)
        #expect(stage.specimen.isValid())
        try stage.thread.runLoop.performAndWait { [stage] in try stage.specimen.add() }
        stage.specimen.provoke()
        waitUntil("the handler is called again") { stage.calls.count > calls }
        stage.stop()
    }

    @Test(arguments: Specimen.Kind.inputs)
    func `removals of several threads, beside additions and an end, lose nothing`(kind: Specimen.Kind) throws
    {
        let stage = try SpecimenStage(kind)
        let removing = try Threads(3) { [specimen = stage.specimen] number in
            for _ in 0..<20 { specimen.remove() }
            if number == 0 { specimen.end() }
        }
        for _ in 0..<20 {
            try stage.thread.runLoop.performAndWait { [stage] in try stage.specimen.add() }
        }
        try removing.join()
        #expect(stage.isReleased.wait())
        stage.stop()
        #expect(stage.releases.entries == [true])
    }

    /// The number of inputs of the calling thread's loop, those inside of other inputs included.
    private static func inputCount() -> Int { RunLoop.current.core("", "").members.inputs.count }

    @Test(arguments: Specimen.Kind.inputs, [true, false])
    func `a removal without a mode takes an input out of all modes`(kind: Specimen.Kind, isElsewhere: Bool)
        throws
    {
        let stage = try SpecimenStage(kind)
        let loop = stage.thread.runLoop
        let counts = try loop.performAndWait { [stage] in
            let most = Self.inputCount()
            let input = try #require(stage.specimen.input)
            for mode in [RunLoop.Mode("other"), .common] { try RunLoop.current.add(input, forMode: mode) }
            RunLoop.current.addCommonMode(RunLoop.Mode("late"))
            if !isElsewhere { RunLoop.current.remove(input) }
            return (most, Self.inputCount())
        }
        #expect(counts.0 > 0)
        if isElsewhere {
            #expect(counts.1 >= counts.0)
            try BareThread { [stage] in stage.specimen.input.map { loop.remove($0) } }.join()
        }
        try stage.pass()
        #expect(try loop.performAndWait { Self.inputCount() } == 0)
        #expect(stage.specimen.isValid())
        let calls = stage.calls.count
        try loop.performAndWait { [stage] in try stage.specimen.add() }
        stage.specimen.provoke()
        waitUntil("the handler is called again") { stage.calls.count > calls }
        stage.stop()
    }

    @Test func `a removal without a mode takes a port out of all modes`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let log = Log<Int>()
            for mode in [RunLoop.Mode.default, RunLoop.Mode("other"), .common] {
                loop.add(port, forMode: mode) { log.add($0) }
            }
            try port.send(1)
            loop.remove(port)
            for mode in [RunLoop.Mode.default, RunLoop.Mode("other")] {
                #expect(loop.run(in: mode, until: .distantFuture) == .finished)
            }
            loop.add(port, forMode: .default) { log.add(-$0) }
            loop.run(mode: .default, before: .distantFuture)
            #expect(log.entries == [-1])
        }
    }

    /// An input of two inputs, one of which can be refused.
    private final class Pair: RunLoopInput {
        let timer: Timer
        let source: DescriptorSource

        init(_ descriptor: CInt, _ called: @escaping (String) -> Void) {
            timer = Timer(timeInterval: .zero, repeats: false) { _ in called("timer") }
            source = DescriptorSource(descriptor, interest: .write) { source, _ in
                source.invalidate()
                called("source")
            }
        }

        func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
            try loop.add(source, forMode: mode)
            loop.add(timer, forMode: mode)
        }

        func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
            loop.remove(source, forMode: mode)
            loop.remove(timer, forMode: mode)
        }

        func remove(from loop: RunLoop) {
            loop.remove(source)
            loop.remove(timer)
        }
    }

    @Test func `an input that consists of inputs joins, throws and leaves like one`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var calls: Set<String> = []
            let pair = Pair(wire.far) { calls.insert($0) }
            let inputs: [any RunLoopInput] = [pair, Timer(timeInterval: .zero, repeats: false) { _ in }]
            for input in inputs { try loop.add(input, forMode: .common) }
            for input in inputs { loop.remove(input, forMode: .common) }
            #expect(Self.inputCount() == 0)
            try loop.add(pair, forMode: .default)
            while calls.count < 2 { loop.run(mode: .default, before: .distantFuture) }
            #expect(calls == ["timer", "source"])
            // A descriptor of no open file is refused, with the type of the error that the input names.
            let refused = Pair(1_000_000) { _ in }
            let error = #expect(throws: SystemError.self) { try loop.add(refused, forMode: .default) }
            #expect(error?.code == EBADF)
            #expect(Self.inputCount() == 0)
        }
    }

    // Guarantees: After a removal on any thread has returned, no call of the object's handlers begins in that mode.
    @Test(arguments: [true, false])
    func `a port that another thread removes delivers no further message`(isSignalPort: Bool) throws {
        let thread = try RunLoopThread(name: "receiver")
        let (numbers, signals, calls) = (Port<Int>(), Port<Void>(), Shared())
        let (isCalled, isRemoved) = (Gate(), Gate())
        let handle: @Sendable () -> Void = {
            calls.increment()
            isCalled.open()
            #expect(isRemoved.wait())
        }
        let loop = thread.runLoop
        try loop.performAndWait {
            if isSignalPort {
                RunLoop.current.add(signals, forMode: .default) { handle() }
                try signals.send()
            } else {
                RunLoop.current.add(numbers, forMode: .default) { _ in handle() }
                try numbers.send(contentsOf: 0..<100)
            }
        }
        #expect(isCalled.wait())
        if isSignalPort { try signals.send() }
        loop.remove(numbers, forMode: .default)
        loop.remove(signals, forMode: .default)
        isRemoved.open()
        for _ in 0..<3 { try loop.performAndWait {} }
        #expect(calls.count == 1)
        try loop.performAndWait {
            RunLoop.current.add(numbers, forMode: .default) { _ in calls.increment() }
            RunLoop.current.add(signals, forMode: .default) { calls.increment() }
        }
        waitUntil("the rest is delivered") { calls.count == (isSignalPort ? 2 : 100) }
        thread.stop()
        thread.join()
    }

    // Guarantees: After an end on another thread has returned, a descriptor that the source does not own can be closed, and its
    // number used again.
    @Test(arguments: [true, false])
    func `a descriptor may be closed, and its number used again, when an end or a removal has returned`(
        isRemoved: Bool
    ) throws {
        try onLoopThread { loop in
            let received = Shared()
            for _ in 0..<100 {
                let old = try Wire.pipe()
                nonisolated(unsafe) let source = DescriptorSource(old.near, interest: .read) { _, _ in
                    Issue.record("it has ended")
                }
                try loop.add(unsafe source, forMode: .default)
                loop.pass()
                try BareThread {
                    if isRemoved {
                        unsafe loop.remove(source, forMode: .default)
                    } else {
                        unsafe source.invalidate()
                    }
                    old.close(old.near)
                }.join()
                // The pipe gets the lowest free number, which is that of the closed descriptor if no other thread takes it.
                let new = try Wire.pipe()
                let next = DescriptorSource(new.near, interest: .read, trigger: .edge) { source, _ in
                    received.increment()
                    source.invalidate()
                }
                try loop.add(next, forMode: .default)
                new.send()
                #expect(loop.run(in: .default, until: .hang) == .finished)
                new.close()
                old.close()
            }
            #expect(received.count == 100)
        }
    }

    // Guarantees: After an end on another thread has returned, a descriptor that the source does not own can be closed, and its
    // number used again.
    @Test func `a descriptor that was reported may be closed after an end elsewhere`() throws {
        try onLoopThread { loop in
            let (calls, wires) = (Shared(), [try Wire.pipe(), try Wire.pipe()])
            nonisolated(unsafe) var sources: [DescriptorSource] = []
            for (index, wire) in wires.enumerated() {
                let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                    calls.increment()
                    source.invalidate()
                    // The kernel has reported the other descriptor, too, and its source waits to be served in this step.
                    endElsewhere(unsafe sources[1 - index]) { wires[1 - index].close(wires[1 - index].near) }
                }
                unsafe sources.append(source)
                try loop.add(source, forMode: .default)
                wire.send()
            }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(calls.count == 1)
            for wire in wires { wire.close() }
        }
    }

    @Test func `a descriptor with a pending change of interest may be closed after an end elsewhere`() throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            nonisolated(unsafe) let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                Issue.record("it has ended")
            }
            try loop.add(unsafe source, forMode: .default)
            // The loop passes the change to the kernel before it looks for mail again.
            let observer = RunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                unsafe source.interest = [.read, .write]
                endElsewhere(unsafe source) { wire.close(wire.near) }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            wire.close()
        }
    }

    @Test func `an owned descriptor is closed by the loop after an end elsewhere`() throws {
        let thread = try RunLoopThread(name: "owner")
        let wire = try Wire.sockets()
        let near = wire.giveAwayNear()
        nonisolated(unsafe) let source = DescriptorSource(OwnedDescriptor(near), interest: .read) {
            _, _ in
        }
        try thread.runLoop.performAndWait { try unsafe RunLoop.current.add(source, forMode: .default) }
        unsafe source.invalidate()
        #expect(wire.nearCloses())
        thread.stop()
        thread.join()
        wire.close()
    }
}

/// Ends a source on another thread, which then calls a closure.
private func endElsewhere(_ source: DescriptorSource, _ body: @escaping @Sendable () -> Void) {
    nonisolated(unsafe) let source = source
    do {
        try BareThread {
            unsafe source.invalidate()
            body()
        }.join()
    } catch { Issue.record(error) }
}

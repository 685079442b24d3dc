import CoreFoundation
import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// Objects of CoreFoundation in loops of this package: what is left behind, and which loop has them.
///
/// `Tests/FoundationCases` compares the functions with CoreFoundation's own.
@Suite struct CoreFoundationTests {
    /// A loop on its way to the thread of the test.
    ///
    /// `@unchecked Sendable`: the functions of loops may be called on any thread.
    private struct Sent: @unchecked Sendable {
        let object: CFRunLoop
        init(_ object: CFRunLoop) { self.object = object }
    }

    private final class Held {
        let gate: Gate
        init(_ gate: Gate) { self.gate = gate }
        deinit { gate.open() }
    }

    private static func makeTimer(_ gate: Gate) -> CFRunLoopTimer? {
        let held = Held(gate)
        return CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 100, 1, 0, 0) { _ in
            withExtendedLifetime(held) {}
        }
    }

    private static func makeObserver(_ gate: Gate) -> CFRunLoopObserver? {
        let held = Held(gate)
        return CFRunLoopObserverCreateWithHandler(
            nil, CFOptionFlags(CFRunLoopActivity.entry.rawValue), true, 0
        ) {
            _, _ in withExtendedLifetime(held) {}
        }
    }

    private static func makeSource(_ gate: Gate) -> CFRunLoopSource? {
        var context = unsafe CFRunLoopSourceContext()
        unsafe context.info = Unmanaged.passRetained(Held(gate)).toOpaque()
        unsafe context.release = { info in
            if let info = unsafe info { unsafe Unmanaged<Held>.fromOpaque(info).release() }
        }
        return CFRunLoopSourceCreate(nil, 0, &context)
    }

    /// A source on its way to another thread, whose functions may be called on any.
    private struct SentSource: @unchecked Sendable {
        let object: CFRunLoopSource
    }

    @Test(arguments: [false, true])
    func `a source is told once that its loop no longer has it, when the thread ends`(isRemoved: Bool) throws
    {
        for _ in 0..<50 {
            let calls = Log<String>()
            let loops = Log<Sent>()
            var context = unsafe CFRunLoopSourceContext()
            unsafe context.info = Unmanaged.passUnretained(calls).toOpaque()
            unsafe context.cancel = { info, _, _ in
                guard let info = unsafe info else { return }
                unsafe Unmanaged<Log<String>>.fromOpaque(info).takeUnretainedValue().add("cancelled")
            }
            let source = SentSource(object: try #require(CFRunLoopSourceCreate(nil, 0, &context)))
            let thread = try BareThread {
                guard let current = CFRunLoopGetCurrent() else { return }
                CFRunLoopAddSource(current, source.object, kCFRunLoopDefaultMode)
                loops.add(Sent(current))
            }
            waitUntil("the source is in the loop") { loops.entries.count == 1 }
            // The thread ends meanwhile.
            if isRemoved {
                CFRunLoopRemoveSource(loops.entries[0].object, source.object, kCFRunLoopDefaultMode)
            }
            thread.join()
            #expect(calls.entries == ["cancelled"])
        }
    }

    @Test func `what an object holds is released when the object is invalidated`() throws {
        try onLoopThread { _ in
            let gates = [Gate(), Gate(), Gate()]
            let current = CFRunLoopGetCurrent()
            let (timer, observer) = (
                CoreFoundationTests.makeTimer(gates[0]), CoreFoundationTests.makeObserver(gates[1])
            )
            CFRunLoopAddTimer(current, timer, kCFRunLoopDefaultMode)
            CFRunLoopAddObserver(current, observer, kCFRunLoopCommonModes)
            do {
                // CoreFoundation keeps the information of a source that was invalidated until the source is released.
                let source = CoreFoundationTests.makeSource(gates[2])
                CFRunLoopAddSource(current, source, kCFRunLoopDefaultMode)
                CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
                CFRunLoopSourceInvalidate(source)
            }
            CFRunLoopTimerInvalidate(timer)
            CFRunLoopObserverInvalidate(observer)
            for (index, gate) in gates.enumerated() { #expect(gate.wait(seconds: 0), "object \(index)") }
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1, false) == .finished)
        }
    }

    @Test func `what an object holds is released when it is in no mode and nobody holds it`() throws {
        try onLoopThread { loop in
            let gates = [Gate(), Gate(), Gate()]
            let current = CFRunLoopGetCurrent()
            do {
                let (timer, observer, source) = (
                    CoreFoundationTests.makeTimer(gates[0]), CoreFoundationTests.makeObserver(gates[1]),
                    CoreFoundationTests.makeSource(gates[2])
                )
                CFRunLoopAddTimer(current, timer, kCFRunLoopDefaultMode)
                CFRunLoopAddObserver(current, observer, kCFRunLoopDefaultMode)
                CFRunLoopAddSource(current, source, kCFRunLoopDefaultMode)
                CFRunLoopRemoveTimer(current, timer, kCFRunLoopDefaultMode)
                CFRunLoopRemoveObserver(current, observer, kCFRunLoopDefaultMode)
                CFRunLoopRemoveSource(current, source, kCFRunLoopDefaultMode)
            }
            for (index, gate) in gates.enumerated() { #expect(gate.wait(seconds: 0), "object \(index)") }
        }
    }

    @Test func `what an object holds is released when its loop ends`() throws {
        let gates = [Gate(), Gate(), Gate()]
        let thread = try RunLoopThread(name: "ends")
        try thread.runLoop.performAndWait(discardingResultOf: {
            let current = CFRunLoopGetCurrent()
            CFRunLoopAddTimer(current, CoreFoundationTests.makeTimer(gates[0]), kCFRunLoopDefaultMode)
            CFRunLoopAddObserver(current, CoreFoundationTests.makeObserver(gates[1]), kCFRunLoopDefaultMode)
            CFRunLoopAddSource(current, CoreFoundationTests.makeSource(gates[2]), kCFRunLoopCommonModes)
        })
        thread.stop()
        thread.join()
        for (index, gate) in gates.enumerated() { #expect(gate.wait(), "object \(index)") }
    }

    @Test func `a stop of another thread ends a run, and is forgotten between runs`() throws {
        let thread = try RunLoopThread(name: "stopped")
        let object = try thread.runLoop.performAndWait { Sent(CFRunLoopGetCurrent()) }.object
        thread.stop()
        thread.join()
        CFRunLoopStop(object)
        #expect(!CFRunLoopIsWaiting(object))
        #expect(CFRunLoopCopyCurrentMode(object) == nil)
    }

    @Test func `changes of another thread take effect in their order`() throws {
        let log = Log<String>()
        let thread = try RunLoopThread(name: "changed")
        let object = try thread.runLoop.performAndWait { Sent(CFRunLoopGetCurrent()) }.object
        let timer = CFRunLoopTimerCreateWithHandler(
            nil, CFAbsoluteTimeGetCurrent() + 100, 100, 0, 0
        ) { _ in log.add("fired") }
        for _ in 0..<100 {
            CFRunLoopAddTimer(object, timer, kCFRunLoopDefaultMode)
            CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + 100)
            CFRunLoopRemoveTimer(object, timer, kCFRunLoopDefaultMode)
        }
        CFRunLoopAddTimer(object, timer, kCFRunLoopDefaultMode)
        try thread.runLoop.performAndWait(discardingResultOf: {})
        #expect(log.entries.isEmpty)
        #expect(CFRunLoopContainsTimer(object, timer, kCFRunLoopDefaultMode))
        CFRunLoopTimerInvalidate(timer)
        #expect(!CFRunLoopTimerIsValid(timer))
        thread.stop()
        thread.join()
    }

    @Test func `a timer that CoreFoundation's own function has made stays in CoreFoundation's loop`() throws {
        try onLoopThread { _ in
            let timer = CoreFoundation.CFRunLoopTimerCreateWithHandler(
                nil, CFAbsoluteTimeGetCurrent() + 100, 1, 0, 0
            ) { _ in }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode)
            let contains = CoreFoundation.CFRunLoopContainsTimer(
                CoreFoundation.CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode)
            #expect(contains)
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1, false) == .finished)
            CFRunLoopTimerInvalidate(timer)
            #expect(!CFRunLoopTimerIsValid(timer))
        }
    }

    @Test func `an object that was made here works in CoreFoundation's own loop`() throws {
        try onLoopThread { _ in
            let print = Printed()
            let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), 0, 0, 0) { _ in
                print("timer")
            }
            let observer = CFRunLoopObserverCreateWithHandler(
                nil, CFOptionFlags(CFRunLoopActivity.exit.rawValue), false, 0
            ) { _, _ in print("exit") }
            let current = CoreFoundation.CFRunLoopGetCurrent()
            CoreFoundation.CFRunLoopAddTimer(current, timer, kCFRunLoopDefaultMode)
            CoreFoundation.CFRunLoopAddObserver(current, observer, kCFRunLoopDefaultMode)
            CoreFoundation.CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.05, false)
            #expect(print.lines == ["timer", "exit"])
        }
    }

    @Test func `a thread's object stands for the loop that the thread has now`() throws {
        try onLoopThread { loop in
            let object = CFRunLoopGetCurrent()
            #expect(loop.getCFRunLoop() === object)
            #expect(loop.getCFRunLoop() !== CFRunLoopGetMain())
            CFRunLoopPerformBlock(object, kCFRunLoopDefaultMode) { CFRunLoopStop(object) }
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 20, false) == .stopped)
        }
    }
}

import CoreFoundation
import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// Objects of CoreFoundation that other threads than the loop's remove, move or end.
@Suite struct CoreFoundationEndTests {
    /// The kinds of objects.
    enum Kind: String, Codable, CaseIterable {
        case timer, observer, source
    }

    /// An object of one kind, which counts its calls.
    ///
    /// `@unchecked Sendable`: the functions of CoreFoundation may be called on any thread.
    private final class Object: @unchecked Sendable {
        let calls = Shared()
        private(set) var add: (CFRunLoop) -> Void = { _ in }
        private(set) var remove: (CFRunLoop) -> Void = { _ in }
        private(set) var end: () -> Void = {}
        private(set) var isValid: () -> Bool = { false }
        /// Makes the object due, if it is not always due.
        private(set) var provoke: () -> Void = {}
        private(set) var cancels = Shared()

        init(_ kind: Kind) {
            let calls = calls
            let mode = kCFRunLoopDefaultMode
            switch kind {
            case .timer:
                let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), 0.0001, 0, 0) {
                    _ in
                    calls.increment()
                }
                add = { CFRunLoopAddTimer($0, timer, mode) }
                remove = { CFRunLoopRemoveTimer($0, timer, mode) }
                end = { CFRunLoopTimerInvalidate(timer) }
                isValid = { CFRunLoopTimerIsValid(timer) }
            case .observer:
                let observer = CFRunLoopObserverCreateWithHandler(
                    nil, CFOptionFlags(CFRunLoopActivity.beforeTimers.rawValue), true, 0
                ) { _, _ in calls.increment() }
                add = { CFRunLoopAddObserver($0, observer, mode) }
                remove = { CFRunLoopRemoveObserver($0, observer, mode) }
                end = { CFRunLoopObserverInvalidate(observer) }
                isValid = { CFRunLoopObserverIsValid(observer) }
            case .source:
                var context = unsafe CFRunLoopSourceContext()
                unsafe context.info = Unmanaged.passUnretained(self).toOpaque()
                unsafe context.perform = { info in
                    guard let info = unsafe info else { return }
                    unsafe Unmanaged<Object>.fromOpaque(info).takeUnretainedValue().calls.increment()
                }
                unsafe context.cancel = { info, _, _ in
                    guard let info = unsafe info else { return }
                    unsafe Unmanaged<Object>.fromOpaque(info).takeUnretainedValue().cancels.increment()
                }
                let source = CFRunLoopSourceCreate(nil, 0, &context)
                add = { CFRunLoopAddSource($0, source, mode) }
                remove = { CFRunLoopRemoveSource($0, source, mode) }
                end = { CFRunLoopSourceInvalidate(source) }
                isValid = { CFRunLoopSourceIsValid(source) }
                provoke = { CFRunLoopSourceSignal(source) }
            }
        }
    }

    /// A thread whose loop runs, with its object of CoreFoundation.
    private struct Runner: @unchecked Sendable {
        let thread: RunLoopThread
        let object: CFRunLoop
        private struct Sent: @unchecked Sendable { let object: CFRunLoop }

        init(_ name: String) throws {
            thread = try RunLoopThread(name: name)
            object = try thread.runLoop.performAndWait { Sent(object: CFRunLoopGetCurrent()) }.object
        }

        /// Calls a closure on this thread while the loop is in a block.
        func whileBlocked(_ body: () throws -> Void) throws {
            let (isBlocked, isOver) = (Gate(), Gate())
            thread.runLoop.perform {
                isBlocked.open()
                _ = isOver.wait()
            }
            defer { isOver.open() }
            try #require(isBlocked.wait())
            try body()
        }

        func pass() throws { for _ in 0..<3 { try thread.runLoop.performAndWait(discardingResultOf: {}) } }

        func stop() {
            thread.stop()
            thread.join()
        }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func `after a removal or an end elsewhere has returned, no call of an object begins`(
        kind: Kind, isEnd: Bool
    ) throws {
        let runner = try Runner("runner")
        let object = Object(kind)
        object.add(runner.object)
        try runner.pass()
        var calls = 0
        try runner.whileBlocked {
            object.provoke()
            if isEnd { object.end() } else { object.remove(runner.object) }
            calls = object.calls.count
        }
        try runner.pass()
        #expect(object.calls.count == calls)
        #expect(object.isValid() == !isEnd)
        #expect(object.cancels.count == (kind == .source ? 1 : 0))
        if !isEnd {
            object.add(runner.object)
            object.provoke()
            // Adding an observer wakes no loop; it is called in the next pass.
            try runner.pass()
            waitUntil("it is called again") { object.calls.count > calls }
            object.end()
        }
        runner.stop()
    }

    @Test(arguments: Kind.allCases)
    func `ends of several threads, beside the end of the loop, are ends`(kind: Kind) throws {
        for _ in 0..<30 {
            let runner = try Runner("runner")
            let object = Object(kind)
            object.add(runner.object)
            let ending = try Threads(2) { number in
                if number == 0 { object.remove(runner.object) }
                object.end()
            }
            runner.stop()
            try ending.join()
            #expect(!object.isValid())
        }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func `an end in a forked child calls nothing, and the parent's object works on`(kind: Kind, isEnd: Bool)
        async
    {
        await #expect(processExitsWith: .success) { [kind, isEnd] in
            let runner = try Runner("runner")
            let object = Object(kind)
            object.add(runner.object)
            try runner.pass()
            let ending = Child {
                let calls = object.calls.count
                CFRunLoopStop(runner.object)
                if isEnd { object.end() } else { object.remove(runner.object) }
                return object.calls.count == calls && object.isValid() == !isEnd ? 0 : 1
            }.wait()
            #expect(ending == .exited(0))
            let calls = object.calls.count
            object.provoke()
            try runner.pass()
            waitUntil("the parent's object is called") { object.calls.count > calls }
            object.end()
            runner.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a loop whose object others have asked for is released with its thread`(isAskedAtItsEnd: Bool) throws
    {
        let (made, mayEnd) = (Gate(), Gate())
        let loops = Log<RunLoops.RunLoop>()
        let thread = try BareThread {
            loops.add(RunLoop.current)
            made.open()
            _ = mayEnd.wait()
            // The loop has never run.
            if isAskedAtItsEnd { _ = CFRunLoopGetCurrent() }
        }
        try #require(made.wait())
        weak let loop = loops.entries.first
        _ = loop?.getCFRunLoop()
        loops.removeAll()
        #expect(loop != nil)
        mayEnd.open()
        thread.join()
        #expect(loop == nil)
    }

    @Test func `a bridge and a port that a forked child ends go on in the parent`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let (bridge, port) = (try RunLoopBridge(), Port())
                loop.add(port, forMode: .default)
                for isEnd in [false, true] {
                    let ending = Child {
                        if isEnd { bridge.invalidate() }
                        loop.remove(port, forMode: .default)
                        if isEnd { port.invalidate() }
                        return port.isValid == !isEnd ? 0 : 1
                    }.wait()
                    #expect(ending == .exited(0))
                }
                loop.perform { loop.stop() }
                #expect(loop.run(mode: .default, before: .distantFuture))
                let fires = Shared()
                let timer = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in
                    fires.increment()
                    loop.stop()
                }
                Foundation.RunLoop.current.add(timer, forMode: .default)
                loop.run(until: .distantFuture)
                #expect(fires.count == 1)
                bridge.invalidate()
            }
        }
    }
}

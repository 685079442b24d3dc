import CoreFoundation
import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// Bridges that are made in a handler of either loop, and several bridges on one thread.
@Suite struct BridgeInAHandlerTests {
    private final class Holder {
        var bridge: RunLoopBridge?
    }

    private static func exitStatus() throws -> Int32 {
        let process = try Process.run(
            URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", "sleep 0.05; exit 3"])
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test func `a bridge that another thread releases ends on its own thread`() throws {
        for _ in 0..<20 {
            let worker = try RunLoopThread(name: "worker")
            nonisolated(unsafe) let holder = Holder()
            try worker.runLoop.performAndWait(discardingResultOf: {
                unsafe holder.bridge = try RunLoopBridge()
            })
            unsafe holder.bridge = nil
            // The next bridge of the thread is a new one, which serves Foundation's loop.
            let fired = Gate()
            try worker.runLoop.performAndWait(discardingResultOf: {
                unsafe holder.bridge = try RunLoopBridge()
                let timer = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in fired.open() }
                Foundation.RunLoop.current.add(timer, forMode: .default)
            })
            #expect(fired.wait())
            unsafe holder.bridge?.invalidate()
            worker.stop()
            worker.join()
            unsafe holder.bridge = nil
        }
    }

    @Test func `a bridge that is made in a block of this package's loop serves both loops from then on`()
        throws
    {
        let worker = try RunLoopThread(name: "worker")
        nonisolated(unsafe) let holder = Holder()
        try worker.runLoop.performAndWait(discardingResultOf: { unsafe holder.bridge = try RunLoopBridge() })
        for _ in 0..<3 {
            let status = try worker.runLoop.performAndWait { try BridgeInAHandlerTests.exitStatus() }
            #expect(status == 3)
        }
        let fired = Gate()
        try worker.runLoop.performAndWait(discardingResultOf: {
            let timer = Foundation.Timer(timeInterval: 0.01, repeats: false) { _ in fired.open() }
            Foundation.RunLoop.current.add(timer, forMode: .default)
        })
        #expect(fired.wait())
        try worker.runLoop.performAndWait(discardingResultOf: { unsafe holder.bridge = nil })
        worker.stop()
        worker.join()
    }

    @Test
    func `a bridge that is made in a handler of Foundation's running loop serves this package's timers`()
        throws
    {
        try onLoopThread { _ in
            nonisolated(unsafe) let holder = Holder()
            nonisolated(unsafe) var fires = 0
            let begins = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in
                do { unsafe holder.bridge = try RunLoopBridge() } catch { Issue.record(error) }
                Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { timer in
                    unsafe fires += 1
                    if unsafe fires == 3 {
                        timer.invalidate()
                        CoreFoundation.CFRunLoopStop(CoreFoundation.CFRunLoopGetCurrent())
                    }
                }
            }
            Foundation.RunLoop.current.add(begins, forMode: .default)
            // Keeps Foundation's run going, and ends it if nothing is served.
            let last = Foundation.Timer(timeInterval: 20, repeats: false) { _ in }
            Foundation.RunLoop.current.add(last, forMode: .default)
            let result = CoreFoundation.CFRunLoopRunInMode(kCFRunLoopDefaultMode, 15, false)
            last.invalidate()
            #expect(result == .stopped)
            #expect(unsafe fires == 3)
            unsafe holder.bridge = nil
        }
    }

    @Test func `a bridge that is made in a run of a mode of its own serves after that run`() throws {
        try onLoopThread { loop in
            let mode = RunLoop.Mode("own")
            nonisolated(unsafe) let holder = Holder()
            loop.perform(inModes: [mode]) {
                do {
                    unsafe holder.bridge = try RunLoopBridge()
                    #expect(try BridgeInAHandlerTests.exitStatus() == 3)
                } catch { Issue.record(error) }
            }
            loop.add(Port(), forMode: mode)
            loop.run(mode: mode, before: Date(timeIntervalSinceNow: 0.01))
            var fires = 0
            let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in fires += 1 }
            let end = Date(timeIntervalSinceNow: 20)
            while fires < 3 && end.timeIntervalSinceNow > 0 {
                _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
            }
            #expect(fires >= 3)
            timer.invalidate()
            unsafe holder.bridge = nil
        }
    }

    @Test(arguments: [true, false])
    func `of two bridges on a thread, the one that is left serves on`(firstEnds: Bool) throws {
        try onLoopThread { _ in
            let bridges = [try RunLoopBridge(), try RunLoopBridge()]
            bridges[firstEnds ? 0 : 1].invalidate()
            var fires = 0
            let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in fires += 1 }
            let end = Date(timeIntervalSinceNow: 20)
            while fires < 3 && end.timeIntervalSinceNow > 0 {
                _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
            }
            #expect(fires >= 3)
            timer.invalidate()
            bridges[firstEnds ? 1 : 0].invalidate()
            bridges[0].invalidate()
        }
    }

    @Test func `work for a loop that is in a handler does not make Foundation's loop spin`() throws {
        try onLoopThread { loop in
            let bridge = try RunLoopBridge()
            nonisolated(unsafe) var passes = 0
            nonisolated(unsafe) var runs = 0
            let observer = CoreFoundation.CFRunLoopObserverCreateWithHandler(
                nil, CFOptionFlags(CFRunLoopActivity.beforeTimers.rawValue), true, 0
            ) { _, _ in unsafe passes += 1 }
            CoreFoundation.CFRunLoopAddObserver(
                CoreFoundation.CFRunLoopGetCurrent(), observer, kCFRunLoopDefaultMode)
            let pipe = Pipe()
            let source = DescriptorSource(pipe.fileHandleForReading.fileDescriptor, interest: .read) {
                source, _ in
                source.invalidate()
                loop.stop()
            }
            try loop.add(source, forMode: .default)
            Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in
                pipe.fileHandleForWriting.write(Data([1]))
                let end = Date(timeIntervalSinceNow: 0.3)
                while end.timeIntervalSinceNow > 0 {
                    unsafe runs += 1
                    _ = Foundation.RunLoop.current.run(mode: .default, before: end)
                }
            }
            unsafe passes = 0
            loop.run(until: Date(timeIntervalSinceNow: 20))
            #expect(unsafe passes < 100 && runs < 100)
            CoreFoundation.CFRunLoopObserverInvalidate(observer)
            bridge.invalidate()
        }
    }
}

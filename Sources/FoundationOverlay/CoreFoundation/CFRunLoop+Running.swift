public import CoreFoundation
internal import Foundation
public import RunLoops

public import class RunLoops.RunLoop

// The functions of CoreFoundation, for the loops of this package. A function hides CoreFoundation's own if its declaration is the
// same to the letter, with CoreFoundation's types. Every result can be discarded, as with imported functions. An object that does not stand for a loop of this package is passed on to
// CoreFoundation's function.

/// Returns the object of the calling thread, which stands for the thread's loop of this package.
///
/// - Returns: The object.
@discardableResult
public func CFRunLoopGetCurrent() -> CFRunLoop! {
    let object = CoreFoundation.CFRunLoopGetCurrent()
    if let object { _ = ServedLoop.current(object) }
    return object
}

/// Returns the object of the main thread, which stands for ``/RunLoops/RunLoop/main``.
///
/// - Returns: The object.
@discardableResult
public func CFRunLoopGetMain() -> CFRunLoop! { CoreFoundation.CFRunLoopGetMain() }

/// Runs the calling thread's loop in the default mode, until it is stopped or the mode is empty.
public func CFRunLoopRun() {
    guard let object = CoreFoundation.CFRunLoopGetCurrent() else { return }
    _ = ServedLoop.current(object).run(in: .default, until: .distantFuture, false)
}

/// Runs the calling thread's loop in a mode.
///
/// - Parameters:
///   - mode: The mode, but not the common modes.
///   - seconds: The length of the run. With zero or less, the run is one pass that does not wait.
///   - returnAfterSourceHandled: True if the run ends after it has handled one source.
/// - Returns: The reason for which the run ended.
@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    guard let object = CoreFoundation.CFRunLoopGetCurrent(), let mode = RunLoop.Mode(mode), mode != .common
    else { return .finished }
    // Like CoreFoundation, and unlike other members, a length that is not a number is a length of zero.
    let length = seconds > 0 ? Duration(seconds, for: "CFRunLoopRunInMode") : .zero
    let deadline =
        length > .zero ? Moment(.now).advanced(by: length.nanosecondsRoundedUp).instant : .distantPast
    let result = ServedLoop.current(object).run(in: mode, until: deadline, returnAfterSourceHandled)
    return CFRunLoopRunResult(rawValue: Int32(result.rawValue)) ?? .finished
}

/// Ends the innermost run of a loop.
///
/// If the loop does not run, nothing happens, and no later run ends.
///
/// - Parameter rl: The loop.
public func CFRunLoopStop(_ rl: CFRunLoop!) {
    guard let served = ServedLoop.of(rl) else { return CoreFoundation.CFRunLoopStop(rl) }
    if served.currentMode != nil { served.loop.stop() }
}

/// Makes the next wait of a loop end immediately.
///
/// - Parameter rl: The loop.
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) {
    guard let served = ServedLoop.of(rl) else { return CoreFoundation.CFRunLoopWakeUp(rl) }
    served.loop.wakeUp()
}

/// Returns true if a loop waits.
///
/// - Parameter rl: The loop.
/// - Returns: True if it waits.
@discardableResult
public func CFRunLoopIsWaiting(_ rl: CFRunLoop!) -> Bool {
    guard let served = ServedLoop.of(rl) else { return CoreFoundation.CFRunLoopIsWaiting(rl) }
    return served.isWaiting
}

/// Returns the mode in which a loop runs.
///
/// - Parameter rl: The loop.
/// - Returns: The mode; nil if the loop does not run.
@discardableResult
public func CFRunLoopCopyCurrentMode(_ rl: CFRunLoop!) -> CFRunLoopMode! {
    guard let served = ServedLoop.of(rl) else { return CoreFoundation.CFRunLoopCopyCurrentMode(rl) }
    return served.currentMode?.name
}

/// Makes a mode one of the common modes of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - mode: The mode.
public func CFRunLoopAddCommonMode(_ rl: CFRunLoop!, _ mode: CFRunLoopMode!) {
    guard let served = ServedLoop.of(rl) else { return CoreFoundation.CFRunLoopAddCommonMode(rl, mode) }
    guard let mode = RunLoop.Mode(mode), mode != .common else { return }
    served.onThread { served.loop.addCommonMode(mode) }
}

/// Performs a block on a loop, the next time that the loop runs in one of the given modes.
///
/// The block wakes the loop.
///
/// - Parameters:
///   - rl: The loop.
///   - mode: A mode, or an array of modes.
///   - block: Called once on the loop's thread.
public func CFRunLoopPerformBlock(_ rl: CFRunLoop!, _ mode: CFTypeRef!, _ block: (() -> Void)!) {
    guard let served = ServedLoop.of(rl) else {
        return CoreFoundation.CFRunLoopPerformBlock(rl, mode, block)
    }
    let modes = RunLoop.Mode.list(mode)
    guard let block, !modes.isEmpty else { return }
    let handed = ServedLoop.Handed(work: block)
    let _: Bool = served.loop.perform(inModes: modes, fileID: "block of CFRunLoopPerformBlock", line: 0) {
        handed.work()
    }
}

/// Unavailable: a loop of this package has no list of the modes that were ever used.
///
/// - Parameter rl: The loop.
/// - Returns: Nothing.
@available(*, unavailable, message: "a loop forgets a mode that nothing uses; keep the modes that you use")
@discardableResult
public func CFRunLoopCopyAllModes(_ rl: CFRunLoop!) -> CFArray! { nil }

/// Unavailable: the question is one for the loop's own thread.
///
/// - Parameters:
///   - rl: The loop.
///   - mode: The mode.
/// - Returns: Nothing.
@available(*, unavailable, message: "use limitDate(forMode:) of RunLoop on the loop's own thread")
@discardableResult
public func CFRunLoopGetNextTimerFireDate(_ rl: CFRunLoop!, _ mode: CFRunLoopMode!) -> CFAbsoluteTime { 0 }

extension RunLoop {
    /// Returns the object of CoreFoundation that stands for this loop.
    ///
    /// - Returns: The object.
    /// - Precondition: The loop has not ended.
    ///
    /// > Thread safety: any thread.
    public func getCFRunLoop() -> CFRunLoop {
        guard let object = ServedLoop.object(of: self) else {
            misuse("RunLoop.getCFRunLoop: the \(self) has ended; keep the object that you got before")
        }
        return object
    }
}

public import CoreFoundation
internal import Foundation
internal import RunLoops

internal import class RunLoops.RunLoop

// The functions of CoreFoundation for timers, for the loops of this package.

/// Makes a timer.
///
/// - Parameters:
///   - allocator: The allocator; nil for the default one.
///   - fireDate: The date of the first fire.
///   - interval: The seconds between fires; zero or less for one fire.
///   - flags: Zero.
///   - order: Ignored.
///   - callout: Called on the loop's thread.
///   - context: The information that the function is given.
/// - Returns: The timer.
@safe
@discardableResult
public func CFRunLoopTimerCreate(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ callout: CFRunLoopTimerCallBack!,
    _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!
) -> CFRunLoopTimer! {
    // Safe: the caller's context is valid during the call.
    let user = unsafe context.map { unsafe $0.pointee }.map { context in
        unsafe UserInformation(context.info, context.retain, context.release)
    }
    return makeTimer(allocator, fireDate, interval, flags, order, user) { timer in
        unsafe callout?(timer, user?.info)
    }
}

/// Makes a timer that calls a closure.
///
/// - Parameters:
///   - allocator: The allocator; nil for the default one.
///   - fireDate: The date of the first fire.
///   - interval: The seconds between fires; zero or less for one fire.
///   - flags: Zero.
///   - order: Ignored.
///   - block: Called on the loop's thread.
/// - Returns: The timer.
@discardableResult
public func CFRunLoopTimerCreateWithHandler(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ block: ((CFRunLoopTimer?) -> Void)!
) -> CFRunLoopTimer! {
    makeTimer(allocator, fireDate, interval, flags, order, nil) { block?($0) }
}

private func makeTimer(
    _ allocator: CFAllocator?, _ date: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ user: UserInformation?, _ callout: @escaping (CFRunLoopTimer?) -> Void
) -> CFRunLoopTimer? {
    let object = TimerObject(date, interval, user, callout)
    var context = unsafe CFRunLoopTimerContext()
    unsafe context.info = object.retained()
    unsafe context.release = releaseObject
    // Safe: CoreFoundation copies the context, and calls the function with its information.
    return unsafe CoreFoundation.CFRunLoopTimerCreate(
        allocator, date, interval, flags, order,
        { timer, info in
            unsafe (LoopObject.of(info, releaseObject) as? TimerObject)?.call(timer)
        }, &context)
}

/// Adds a timer to a mode of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - timer: The timer.
///   - mode: The mode.
public func CFRunLoopAddTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
    guard let served = ServedLoop.of(rl), let timer, let known = TimerObject.of(timer) else {
        return CoreFoundation.CFRunLoopAddTimer(rl, timer, mode)
    }
    if let mode = RunLoop.Mode(mode) { known.add(timer, to: served, mode) }
}

/// Removes a timer from a mode of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - timer: The timer.
///   - mode: The mode.
public func CFRunLoopRemoveTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
    guard let served = ServedLoop.of(rl), let known = TimerObject.of(timer) else {
        return CoreFoundation.CFRunLoopRemoveTimer(rl, timer, mode)
    }
    if let mode = RunLoop.Mode(mode) { known.remove(from: served, mode) }
}

/// Returns true if a mode of a loop contains a timer.
///
/// - Parameters:
///   - rl: The loop.
///   - timer: The timer.
///   - mode: The mode.
/// - Returns: True if it does.
@discardableResult
public func CFRunLoopContainsTimer(
    _ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!
) -> Bool {
    guard let served = ServedLoop.of(rl), let known = TimerObject.of(timer) else {
        return CoreFoundation.CFRunLoopContainsTimer(rl, timer, mode)
    }
    return RunLoop.Mode(mode).map { known.isIn(served, $0) } ?? false
}

/// Ends a timer for good.
///
/// - Parameter timer: The timer.
public func CFRunLoopTimerInvalidate(_ timer: CFRunLoopTimer!) {
    let known = TimerObject.of(timer)
    CoreFoundation.CFRunLoopTimerInvalidate(timer)
    known?.invalidate()
}

/// Returns the date of a timer's next fire.
///
/// - Parameter timer: The timer.
/// - Returns: The date; zero if the timer is not valid.
@discardableResult
public func CFRunLoopTimerGetNextFireDate(_ timer: CFRunLoopTimer!) -> CFAbsoluteTime {
    TimerObject.of(timer)?.date ?? CoreFoundation.CFRunLoopTimerGetNextFireDate(timer)
}

/// Sets the date of a timer's next fire.
///
/// - Parameters:
///   - timer: The timer.
///   - fireDate: The date.
public func CFRunLoopTimerSetNextFireDate(_ timer: CFRunLoopTimer!, _ fireDate: CFAbsoluteTime) {
    CoreFoundation.CFRunLoopTimerSetNextFireDate(timer, fireDate)
    TimerObject.of(timer)?.set(fireDate)
}

/// Returns the time by which a timer may fire late.
///
/// - Parameter timer: The timer.
/// - Returns: The seconds.
@discardableResult
public func CFRunLoopTimerGetTolerance(_ timer: CFRunLoopTimer!) -> CFTimeInterval {
    TimerObject.of(timer)?.tolerance ?? CoreFoundation.CFRunLoopTimerGetTolerance(timer)
}

/// Sets the time by which a timer may fire late, at most half its interval.
///
/// - Parameters:
///   - timer: The timer.
///   - tolerance: The seconds.
public func CFRunLoopTimerSetTolerance(_ timer: CFRunLoopTimer!, _ tolerance: CFTimeInterval) {
    CoreFoundation.CFRunLoopTimerSetTolerance(timer, tolerance)
    TimerObject.of(timer)?.setTolerance(tolerance)
}

/// Returns the context with which a timer was made.
///
/// - Parameters:
///   - timer: The timer.
///   - context: The context to fill.
public func CFRunLoopTimerGetContext(
    _ timer: CFRunLoopTimer!, _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!
) {
    unsafe CoreFoundation.CFRunLoopTimerGetContext(timer, context)
    guard let known = TimerObject.of(timer), let context = unsafe context else { return }
    unsafe context.pointee = CFRunLoopTimerContext()
    unsafe context.pointee.info = known.user?.info
}

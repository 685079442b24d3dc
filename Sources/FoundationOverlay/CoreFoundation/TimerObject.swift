internal import CoreFoundation
internal import Foundation
internal import RunLoops

internal import class RunLoops.RunLoop
internal import class RunLoops.Timer

/// What a `CFRunLoopTimer` does in a loop of this package.
///
/// The timer in the loop is made, changed and ended on any thread. When the object leaves its last mode, that timer ends, and the next
/// mode gets a new one, so that an object can move from one loop to another.
///
/// `@unchecked Sendable`: `timer` is accessed under the lock of `published`; the rest is constant.
final class TimerObject: LoopObject, @unchecked Sendable {
    let interval: TimeInterval
    let user: UserInformation?
    private let callout: (CFRunLoopTimer?) -> Void
    /// The timer in the loop, which holds it while the object is in a mode.
    ///
    /// A strong reference would outlive the loop.
    private weak var timer: Timer?

    private struct Published: Sendable {
        var date: CFAbsoluteTime
        var tolerance: TimeInterval = 0
        /// The loop that has the timer; a timer can be in one loop.
        var served: ServedLoop?
    }

    private let published: Guarded<Published>

    init(
        _ date: CFAbsoluteTime, _ interval: TimeInterval, _ user: UserInformation?,
        _ callout: @escaping (CFRunLoopTimer?) -> Void
    ) {
        published = Guarded(Published(date: date))
        self.interval = max(interval, 0)
        self.user = user
        self.callout = callout
    }

    /// Returns what a timer does here; nil if another library has made the timer, or the timer is not valid.
    static func of(_ object: CFRunLoopTimer?) -> TimerObject? {
        guard let object, CoreFoundation.CFRunLoopTimerIsValid(object) else { return nil }
        var context = unsafe CFRunLoopTimerContext()
        unsafe CoreFoundation.CFRunLoopTimerGetContext(object, &context)
        return unsafe LoopObject.of(context.info, context.release) as? TimerObject
    }

    /// The date of the next fire.
    ///
    /// Any thread may ask.
    var date: CFAbsoluteTime { published.withLock { $0.date } }

    /// The tolerance.
    ///
    /// Any thread may ask.
    var tolerance: TimeInterval { published.withLock { $0.tolerance } }

    func call(_ object: CFRunLoopTimer?) { callout(object) }

    // MARK: - Membership

    func add(_ object: CFRunLoopTimer, to served: ServedLoop, _ mode: RunLoop.Mode) {
        let timer = published.withLock { published -> Timer? in
            // As in CoreFoundation, a timer of one loop is not added to another one.
            let owner = published.served ?? served
            guard owner === served, enter(served, mode) else { return nil }
            published.served = served
            if let known = self.timer, known.isValid { return known }
            let new = makeTimer(object, published)
            self.timer = new
            return new
        }
        guard let timer else { return }
        served.loop.addAnywhere(timer, forMode: mode)
        // The object can have become invalid, or left the mode, on another thread meanwhile.
        if !CoreFoundation.CFRunLoopTimerIsValid(object) { timer.invalidate() }
        if !has(served, mode) { served.loop.remove(timer, forMode: mode) }
    }

    func remove(from served: ServedLoop, _ mode: RunLoop.Mode) {
        let (left, isLast) = published.withLock { published -> (Timer?, Bool) in
            guard leave(served, mode) else { return (nil, false) }
            let left = timer
            if !isNowhere { return (left, false) }
            published.served = nil
            timer = nil
            return (left, true)
        }
        if isLast { left?.invalidate() } else if let left { served.loop.remove(left, forMode: mode) }
    }

    /// Ends the timer in its loop, after the object has become invalid.
    func invalidate() { published.withLock { _ in timer }?.invalidate() }

    private func makeTimer(_ object: CFRunLoopTimer, _ published: Published) -> Timer {
        let date = Date(timeIntervalSinceReferenceDate: published.date)
        let timer = Timer(fire: date, interval: interval, repeats: interval > 0) { [self] timer in
            fire(object, timer)
        }
        if published.tolerance > 0 { timer.tolerance = published.tolerance }
        return timer
    }

    private func fire(_ object: CFRunLoopTimer, _ timer: Timer) {
        guard CoreFoundation.CFRunLoopTimerIsValid(object) else { return }
        if interval > 0 {
            // While the handler runs, the timer still has the date of this fire.
            let date = timer.fireDate.timeIntervalSinceReferenceDate
            let late = max(CFAbsoluteTimeGetCurrent() - date, 0)
            published.withLock { $0.date = date + interval * ((late / interval).rounded(.down) + 1) }
        }
        callout(object)
        // A timer that does not repeat is invalid after its fire.
        if interval == 0 { CFRunLoopTimerInvalidate(object) }
    }

    // MARK: - Changes

    func set(_ date: CFAbsoluteTime) {
        let timer = published.withLock { published in
            published.date = date
            return self.timer
        }
        timer?.fireDate = Date(timeIntervalSinceReferenceDate: date)
    }

    func setTolerance(_ tolerance: TimeInterval) {
        let tolerance = interval > 0 ? min(max(tolerance, 0), interval / 2) : max(tolerance, 0)
        let timer = published.withLock { published in
            published.tolerance = tolerance
            return self.timer
        }
        timer?.tolerance = tolerance
    }
}

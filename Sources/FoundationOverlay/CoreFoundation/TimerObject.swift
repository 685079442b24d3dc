internal import CoreFoundation
internal import Foundation
internal import RunLoops
internal import Synchronization

internal import class RunLoops.RunLoop
internal import class RunLoops.Timer

/// What a `CFRunLoopTimer` does in a loop of this package.
///
/// `@unchecked Sendable`: `timer` is used on the thread of its loop only; `published` is guarded by its lock; the rest is constant.
final class TimerObject: LoopObject, @unchecked Sendable {
    let interval: TimeInterval
    let user: UserInformation?
    private let callout: (CFRunLoopTimer?) -> Void
    /// The timer in the loop, which holds it while the object is in a mode.
    ///
    /// A strong reference would outlive the loop.
    private weak var timer: Timer?

    private struct Published {
        var date: CFAbsoluteTime
        var tolerance: TimeInterval = 0
        /// The loop that has the timer; a timer can be in one loop.
        var served: ServedLoop?
    }

    private let published: Mutex<Published>

    init(
        _ date: CFAbsoluteTime, _ interval: TimeInterval, _ user: UserInformation?,
        _ callout: @escaping (CFRunLoopTimer?) -> Void
    ) {
        published = Mutex(Published(date: date))
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
        let owner = published.withLock { published in
            published.served = published.served ?? served
            return published.served
        }
        // As in CoreFoundation, a timer of one loop is not added to another one.
        guard owner === served, enter(served, mode) else { return }
        served.onThread { [self] in
            if !CoreFoundation.CFRunLoopTimerIsValid(object) { return }
            let timer = self.timer ?? makeTimer(object)
            self.timer = timer
            served.loop.add(timer, forMode: mode)
        }
    }

    func remove(from served: ServedLoop, _ mode: RunLoop.Mode) {
        guard leave(served, mode) else { return }
        if isNowhere { published.withLock { $0.served = nil } }
        served.onThread { [self] in
            guard let timer else { return }
            served.loop.remove(timer, forMode: mode)
        }
    }

    /// Ends the timer in its loop, after the object has become invalid.
    func invalidate() {
        guard let served = published.withLock({ $0.served }) else { return }
        served.onThread { [self] in timer?.invalidate() }
    }

    private func makeTimer(_ object: CFRunLoopTimer) -> Timer {
        let date = Date(timeIntervalSinceReferenceDate: date)
        let timer = Timer(fire: date, interval: interval, repeats: interval > 0) { [self] timer in
            fire(object, timer)
        }
        if tolerance > 0 { timer.tolerance = tolerance }
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
        let served = published.withLock { published in
            published.date = date
            return published.served
        }
        served?.onThread { [self] in timer?.fireDate = Date(timeIntervalSinceReferenceDate: date) }
    }

    func setTolerance(_ tolerance: TimeInterval) {
        let tolerance = interval > 0 ? min(max(tolerance, 0), interval / 2) : max(tolerance, 0)
        let served = published.withLock { published in
            published.tolerance = tolerance
            return published.served
        }
        served?.onThread { [self] in timer?.tolerance = tolerance }
    }
}

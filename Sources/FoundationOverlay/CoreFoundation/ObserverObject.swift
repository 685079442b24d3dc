internal import CoreFoundation
internal import Foundation
internal import RunLoops

internal import class RunLoops.RunLoop

/// What a `CFRunLoopObserver` does in a loop of this package.
///
/// When the object leaves its last mode, the observer in the loop ends, and the next mode gets a new one, so that an object can move
/// from one loop to another.
///
/// `@unchecked Sendable`: `observer` and `served` are accessed under the lock; the rest is constant.
final class ObserverObject: LoopObject, @unchecked Sendable {
    let user: UserInformation?
    private let callout: (CFRunLoopObserver?, CFRunLoopActivity) -> Void
    /// The observer in the loop, which holds it while the object is in a mode.
    ///
    /// A strong reference would outlive the loop.
    private weak var observer: RunLoop.Observer?
    private var served: ServedLoop?
    private let lock = Guarded(())

    init(_ user: UserInformation?, _ callout: @escaping (CFRunLoopObserver?, CFRunLoopActivity) -> Void) {
        self.user = user
        self.callout = callout
    }

    /// Returns what an observer does here; nil if another library has made the observer, or the observer is not valid.
    static func of(_ object: CFRunLoopObserver?) -> ObserverObject? {
        guard let object, CoreFoundation.CFRunLoopObserverIsValid(object) else { return nil }
        var context = unsafe CFRunLoopObserverContext()
        unsafe CoreFoundation.CFRunLoopObserverGetContext(object, &context)
        return unsafe LoopObject.of(context.info, context.release) as? ObserverObject
    }

    func call(_ object: CFRunLoopObserver?, _ activity: CFRunLoopActivity) { callout(object, activity) }

    func add(_ object: CFRunLoopObserver, to served: ServedLoop, _ mode: RunLoop.Mode) {
        let isNew = lock.withLock { _ in
            // As in CoreFoundation, an observer of one loop is not added to another one.
            let owner = self.served ?? served
            guard owner === served, enter(served, mode) else { return false }
            self.served = served
            return true
        }
        guard isNew else { return }
        served.onThread { [self] in
            // The object can have become invalid, or left the mode, on another thread meanwhile.
            guard CoreFoundation.CFRunLoopObserverIsValid(object), has(served, mode) else { return }
            let observer = lock.withLock { _ in
                let observer = self.observer ?? makeObserver(object)
                self.observer = observer
                return observer
            }
            served.loop.add(observer, forMode: mode)
        }
    }

    func remove(from served: ServedLoop, _ mode: RunLoop.Mode) {
        let (left, isLast) = lock.withLock { _ -> (RunLoop.Observer?, Bool) in
            guard leave(served, mode) else { return (nil, false) }
            let left = observer
            if !isNowhere { return (left, false) }
            (observer, self.served) = (nil, nil)
            return (left, true)
        }
        if isLast { left?.invalidate() } else if let left { served.loop.remove(left, forMode: mode) }
    }

    /// Ends the observer in its loop, after the object has become invalid.
    func invalidate() { lock.withLock { _ in observer }?.invalidate() }

    private func makeObserver(_ object: CFRunLoopObserver) -> RunLoop.Observer {
        let repeats = CFRunLoopObserverDoesRepeat(object)
        let activities = RunLoop.Activity(rawValue: UInt(CFRunLoopObserverGetActivities(object)))
        return RunLoop.Observer(
            activities: activities.intersection(.all), repeats: repeats,
            order: CFRunLoopObserverGetOrder(object)
        ) { [self] _, activity in
            guard CoreFoundation.CFRunLoopObserverIsValid(object) else { return }
            if !repeats { CFRunLoopObserverInvalidate(object) }
            callout(object, CFRunLoopActivity(rawValue: numericCast(activity.rawValue)))
        }
    }
}

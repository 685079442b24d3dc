internal import CoreFoundation
internal import Foundation
internal import RunLoops

internal import class RunLoops.RunLoop

/// What a `CFRunLoopObserver` does in a loop of this package.
///
/// `@unchecked Sendable`: `observer` and `served` are used on the thread of the loop only; the rest is constant.
final class ObserverObject: LoopObject, @unchecked Sendable {
    let user: UserInformation?
    private let callout: (CFRunLoopObserver?, CFRunLoopActivity) -> Void
    /// The observer in the loop, which holds it while the object is in a mode.
    ///
    /// A strong reference would outlive the loop.
    private weak var observer: RunLoop.Observer?
    private var served: ServedLoop?

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
        guard enter(served, mode) else { return }
        served.onThread { [self] in
            if !CoreFoundation.CFRunLoopObserverIsValid(object) { return }
            let observer = self.observer ?? makeObserver(object)
            (self.observer, self.served) = (observer, served)
            served.loop.add(observer, forMode: mode)
        }
    }

    func remove(from served: ServedLoop, _ mode: RunLoop.Mode) {
        guard leave(served, mode) else { return }
        served.onThread { [self] in
            guard let observer else { return }
            served.loop.remove(observer, forMode: mode)
        }
    }

    /// Ends the observer in its loop, after the object has become invalid.
    func invalidate() {
        guard let served else { return }
        served.onThread { [self] in observer?.invalidate() }
    }

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

public import CoreFoundation
internal import RunLoops

internal import class RunLoops.RunLoop

// The functions of CoreFoundation for observers, for the loops of this package.

/// Makes an observer.
///
/// - Parameters:
///   - allocator: The allocator; nil for the default one.
///   - activities: The activities that are observed.
///   - repeats: True if the observer continues after its first call.
///   - order: The place among the observers of the same activity.
///   - callout: Called on the loop's thread.
///   - context: The information that the function is given.
/// - Returns: The observer.
@safe
@discardableResult
public func CFRunLoopObserverCreate(
    _ allocator: CFAllocator!, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ callout: CFRunLoopObserverCallBack!, _ context: UnsafeMutablePointer<CFRunLoopObserverContext>!
) -> CFRunLoopObserver! {
    // Safe: the caller's context is valid during the call.
    let user = unsafe context.map { unsafe $0.pointee }.map { context in
        unsafe UserInformation(context.info, context.retain, context.release)
    }
    return makeObserver(allocator, activities, repeats, order, user) { observer, activity in
        unsafe callout?(observer, activity, user?.info)
    }
}

/// Makes an observer that calls a closure.
///
/// - Parameters:
///   - allocator: The allocator; nil for the default one.
///   - activities: The activities that are observed.
///   - repeats: True if the observer continues after its first call.
///   - order: The place among the observers of the same activity.
///   - block: Called on the loop's thread.
/// - Returns: The observer.
@discardableResult
public func CFRunLoopObserverCreateWithHandler(
    _ allocator: CFAllocator!, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ block: ((CFRunLoopObserver?, CFRunLoopActivity) -> Void)!
) -> CFRunLoopObserver! {
    makeObserver(allocator, activities, repeats, order, nil) { block?($0, $1) }
}

private func makeObserver(
    _ allocator: CFAllocator?, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ user: UserInformation?, _ callout: @escaping (CFRunLoopObserver?, CFRunLoopActivity) -> Void
) -> CFRunLoopObserver? {
    let object = ObserverObject(user, callout)
    var context = unsafe CFRunLoopObserverContext()
    unsafe context.info = object.retained()
    unsafe context.release = releaseObject
    // Safe: CoreFoundation copies the context, and calls the function with its information.
    return unsafe CoreFoundation.CFRunLoopObserverCreate(
        allocator, activities, repeats, order,
        { observer, activity, info in
            unsafe (LoopObject.of(info, releaseObject) as? ObserverObject)?.call(observer, activity)
        }, &context)
}

/// Adds an observer to a mode of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - observer: The observer.
///   - mode: The mode.
public func CFRunLoopAddObserver(_ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!) {
    guard let served = ServedLoop.of(rl), let observer, let known = ObserverObject.of(observer) else {
        return CoreFoundation.CFRunLoopAddObserver(rl, observer, mode)
    }
    if let mode = RunLoop.Mode(mode) { known.add(observer, to: served, mode) }
}

/// Removes an observer from a mode of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - observer: The observer.
///   - mode: The mode.
public func CFRunLoopRemoveObserver(
    _ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!
) {
    guard let served = ServedLoop.of(rl), let known = ObserverObject.of(observer) else {
        return CoreFoundation.CFRunLoopRemoveObserver(rl, observer, mode)
    }
    if let mode = RunLoop.Mode(mode) { known.remove(from: served, mode) }
}

/// Returns true if a mode of a loop contains an observer.
///
/// - Parameters:
///   - rl: The loop.
///   - observer: The observer.
///   - mode: The mode.
/// - Returns: True if it does.
@discardableResult
public func CFRunLoopContainsObserver(
    _ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!
) -> Bool {
    guard let served = ServedLoop.of(rl), let known = ObserverObject.of(observer) else {
        return CoreFoundation.CFRunLoopContainsObserver(rl, observer, mode)
    }
    return RunLoop.Mode(mode).map { known.isIn(served, $0) } ?? false
}

/// Ends an observer for good.
///
/// - Parameter observer: The observer.
public func CFRunLoopObserverInvalidate(_ observer: CFRunLoopObserver!) {
    let known = ObserverObject.of(observer)
    CoreFoundation.CFRunLoopObserverInvalidate(observer)
    known?.invalidate()
}

/// Returns the context with which an observer was made.
///
/// - Parameters:
///   - observer: The observer.
///   - context: The context to fill.
public func CFRunLoopObserverGetContext(
    _ observer: CFRunLoopObserver!, _ context: UnsafeMutablePointer<CFRunLoopObserverContext>!
) {
    unsafe CoreFoundation.CFRunLoopObserverGetContext(observer, context)
    guard let known = ObserverObject.of(observer), let context = unsafe context else { return }
    unsafe context.pointee = CFRunLoopObserverContext()
    unsafe context.pointee.info = known.user?.info
}

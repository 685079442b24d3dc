public import CoreFoundation
internal import RunLoops

internal import class RunLoops.RunLoop

// The functions of CoreFoundation for sources, for the loops of this package. Sources of version 1, which have a port, stay in
// CoreFoundation's own loop.

/// Makes a source.
///
/// - Parameters:
///   - allocator: The allocator; nil for the default one.
///   - order: Ignored for a loop of this package.
///   - context: The functions of the source, and their information.
/// - Returns: The source.
@safe
@discardableResult
public func CFRunLoopSourceCreate(
    _ allocator: CFAllocator!, _ order: CFIndex, _ context: UnsafeMutablePointer<CFRunLoopSourceContext>!
) -> CFRunLoopSource! {
    // Safe: the caller's context is valid during the call, and both versions begin with the number of the version.
    guard let given = unsafe context, unsafe given.pointee.version == 0 else {
        return unsafe CoreFoundation.CFRunLoopSourceCreate(allocator, order, context)
    }
    let object = unsafe SourceObject(given.pointee)
    var context = unsafe CFRunLoopSourceContext()
    unsafe context.info = object.retained()
    unsafe context.release = releaseObject
    unsafe context.schedule = { info, loop, mode in
        guard let object = unsafe LoopObject.of(info, releaseObject) as? SourceObject else { return }
        unsafe object.context.schedule?(object.user.info, loop, mode)
    }
    unsafe context.cancel = { info, loop, mode in
        guard let object = unsafe LoopObject.of(info, releaseObject) as? SourceObject else { return }
        unsafe object.context.cancel?(object.user.info, loop, mode)
    }
    unsafe context.perform = { info in
        unsafe (LoopObject.of(info, releaseObject) as? SourceObject)?.perform()
    }
    return unsafe CoreFoundation.CFRunLoopSourceCreate(allocator, order, &context)
}

/// Adds a source to a mode of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - source: The source.
///   - mode: The mode.
public func CFRunLoopAddSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) {
    guard let rl, let served = ServedLoop.of(rl), let source, let known = SourceObject.of(source) else {
        return CoreFoundation.CFRunLoopAddSource(rl, source, mode)
    }
    if let mode = RunLoop.Mode(mode) { known.add(source, to: served, mode, rl) }
}

/// Removes a source from a mode of a loop.
///
/// - Parameters:
///   - rl: The loop.
///   - source: The source.
///   - mode: The mode.
public func CFRunLoopRemoveSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) {
    guard let rl, let served = ServedLoop.of(rl), let known = SourceObject.of(source) else {
        return CoreFoundation.CFRunLoopRemoveSource(rl, source, mode)
    }
    if let mode = RunLoop.Mode(mode) { known.remove(from: served, mode, rl) }
}

/// Returns true if a mode of a loop contains a source.
///
/// - Parameters:
///   - rl: The loop.
///   - source: The source.
///   - mode: The mode.
/// - Returns: True if it does.
@discardableResult
public func CFRunLoopContainsSource(
    _ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!
) -> Bool {
    guard let served = ServedLoop.of(rl), let known = SourceObject.of(source) else {
        return CoreFoundation.CFRunLoopContainsSource(rl, source, mode)
    }
    return RunLoop.Mode(mode).map { known.isIn(served, $0) } ?? false
}

/// Tells a source that it has work.
///
/// The loop that has the source performs the work, and is woken.
///
/// - Parameter source: The source.
public func CFRunLoopSourceSignal(_ source: CFRunLoopSource!) {
    CoreFoundation.CFRunLoopSourceSignal(source)
    SourceObject.of(source)?.signal()
}

/// Ends a source for good.
///
/// - Parameter source: The source.
public func CFRunLoopSourceInvalidate(_ source: CFRunLoopSource!) {
    let known = SourceObject.of(source)
    CoreFoundation.CFRunLoopSourceInvalidate(source)
    known?.invalidate()
}

/// Returns the context with which a source was made.
///
/// - Parameters:
///   - source: The source.
///   - context: The context to fill.
public func CFRunLoopSourceGetContext(
    _ source: CFRunLoopSource!, _ context: UnsafeMutablePointer<CFRunLoopSourceContext>!
) {
    unsafe CoreFoundation.CFRunLoopSourceGetContext(source, context)
    if let known = SourceObject.of(source), let context = unsafe context {
        unsafe context.pointee = known.context
    }
}

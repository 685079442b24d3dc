internal import CoreFoundation
internal import RunLoops
internal import Synchronization

internal import class RunLoops.RunLoop

/// What a `CFRunLoopSource` of version 0 does in loops of this package.
///
/// `@safe` and `@unchecked Sendable`: the state is guarded by its lock; the rest is constant, and used as the user's context says.
@safe
final class SourceObject: LoopObject, @unchecked Sendable {
    private struct State {
        /// The source in each loop, which holds it while the object is in a mode.
        ///
        /// A strong reference would outlive the loop.
        var sources: [ObjectIdentifier: (served: ServedLoop, source: WeakReference)] = [:]
        var isSignalled = false
    }

    let context: CFRunLoopSourceContext
    let user: UserInformation
    private let state = Mutex(State())

    init(_ context: CFRunLoopSourceContext) {
        unsafe self.context = context
        user = unsafe UserInformation(context.info, context.retain, context.release)
    }

    deinit {
        for (served, _) in state.withLock({ $0.sources.values }) { served.forget(ObjectIdentifier(self)) }
    }

    /// Returns what a source does here; nil if another library has made the source, or the source is not valid.
    static func of(_ object: CFRunLoopSource?) -> SourceObject? {
        guard let object, CoreFoundation.CFRunLoopSourceIsValid(object) else { return nil }
        // A context of version 1 has as many members. CoreFoundation asks for the version that the source has.
        var context = unsafe CFRunLoopSourceContext()
        unsafe CoreFoundation.CFRunLoopSourceGetContext(object, &context)
        return unsafe LoopObject.of(context.info, context.release) as? SourceObject
    }

    /// Adds the source; like CoreFoundation's, this calls the function for that on the calling thread.
    func add(_ object: CFRunLoopSource, to served: ServedLoop, _ mode: RunLoop.Mode, _ loop: CFRunLoop) {
        guard enter(served, mode) else { return }
        let source = source(in: served, object)
        served.onThread { [self] in
            // The object can have left the mode on another thread meanwhile.
            if !has(served, mode) { return }
            served.loop.add(source, forMode: mode)
            // A signal that was sent before the source joined is not lost.
            if state.withLock({ $0.isSignalled }) { source.signal() }
        }
        unsafe context.schedule?(user.info, loop, mode.name)
    }

    func remove(from served: ServedLoop, _ mode: RunLoop.Mode, _ loop: CFRunLoop) {
        guard leave(served, mode) else { return }
        if let source = known(in: served) { served.loop.remove(source, forMode: mode) }
        unsafe context.cancel?(user.info, loop, mode.name)
    }

    func signal() {
        let sources = state.withLock { state in
            state.isSignalled = true
            return state.sources.values.map(\.source)
        }
        for source in sources { source.object(as: ManualSource.self)?.signal() }
    }

    /// Performs the source's work, also for CoreFoundation's own loop.
    func perform() { unsafe context.perform?(user.info) }

    /// Ends the source in its loops, after the object has become invalid.
    func invalidate() {
        for (served, source) in state.withLock({ Array(exchange(&$0.sources, with: [:]).values) }) {
            served.forget(ObjectIdentifier(self))
            source.object(as: ManualSource.self)?.invalidate()
            for mode in leaveAll(served) { unsafe context.cancel?(user.info, served.object, mode.name) }
        }
    }

    /// Tells the program that a loop no longer has the source, because its thread has ended; like CoreFoundation's end of a loop.
    func hasEnded(_ served: ServedLoop) {
        _ = state.withLock { $0.sources.removeValue(forKey: ObjectIdentifier(served)) }
        for mode in leaveAll(served) { unsafe context.cancel?(user.info, served.object, mode.name) }
    }

    private func source(in served: ServedLoop, _ object: CFRunLoopSource) -> ManualSource {
        if let known = known(in: served), known.isValid { return known }
        let object = Passed(object)
        let source = ManualSource { [self] in
            // The first loop that sees the signal performs the work.
            let isSignalled = state.withLock { exchange(&$0.isSignalled, with: false) }
            if isSignalled, CoreFoundation.CFRunLoopSourceIsValid(object.value) { perform() }
        }
        let reference = WeakReference(source)
        state.withLock { $0.sources[ObjectIdentifier(served)] = (served, reference) }
        served.note(self)
        return source
    }

    private func known(in served: ServedLoop) -> ManualSource? {
        state.withLock { $0.sources[ObjectIdentifier(served)]?.source }?.object(as: ManualSource.self)
    }

    /// An object of CoreFoundation on its way to a loop's thread.
    ///
    /// `@unchecked Sendable`: CoreFoundation's objects may be used on any thread.
    private struct Passed<Object: AnyObject>: @unchecked Sendable {
        let value: Object
        init(_ value: Object) { self.value = value }
    }
}

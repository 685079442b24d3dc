internal import CFoundationLoops
internal import CoreFoundation
internal import Foundation
internal import RunLoops
internal import Synchronization

internal import class RunLoops.RunLoop

/// A loop of this package that a `CFRunLoop` stands for.
///
/// A `CFRunLoop` is CoreFoundation's object of a thread. It stands for the thread's loop of this package once the thread has asked
/// for it with a function of this module, or another thread has asked for the object of that loop, and as long as that loop exists.
/// The object of the main thread always does.
final class ServedLoop: Sendable {
    private static let loops = Mutex<[ObjectIdentifier: ServedLoop]>([:])

    let loop: RunLoop
    /// The object.
    ///
    /// `nonisolated(unsafe)`: it is constant, and its functions may be called on any thread.
    nonisolated(unsafe) let object: CFRunLoop

    private struct State {
        /// The modes of the runs under way, the innermost one last.
        var modes: [RunLoop.Mode] = []
        var isWaiting = false
        var isWatched = false
    }

    private let state = Mutex(State())

    /// The sources that were added to the loop, which are told of its end.
    private let sources = Mutex<[ObjectIdentifier: WeakReference]>([:])

    private init(_ loop: RunLoop, _ object: CFRunLoop) {
        self.loop = loop
        unsafe self.object = object
    }

    /// The innermost mode in which the loop runs; nil between runs.
    ///
    /// Any thread may ask.
    var currentMode: RunLoop.Mode? {
        state.withLock { $0.isWatched ? $0.modes.last : loop.currentMode }
    }

    /// True while the loop waits.
    ///
    /// Any thread may ask.
    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    // MARK: - Finding

    /// The calling thread's loop, for its `CFRunLoop`.
    static func current(_ object: CFRunLoop) -> ServedLoop {
        let loop = RunLoop.current
        let served = served(object, loop)
        served.watch()
        return served
    }

    /// The loop for which an object stands; nil if the object stands for CoreFoundation's own loop only.
    static func of(_ object: CFRunLoop?) -> ServedLoop? {
        guard let object else { return nil }
        if let known = loops.withLock({ $0[id(object)] }) { return known }
        guard object === CoreFoundation.CFRunLoopGetMain() else { return nil }
        let served = served(object, RunLoop.main)
        if served.loop.isCurrent { served.watch() } else { served.loop.performInEveryMode { served.watch() } }
        return served
    }

    /// The object for a loop; nil if the loop has ended.
    static func object(of loop: RunLoop) -> CFRunLoop? {
        if loop.isCurrent { return CFRunLoopGetCurrent() }
        if loop === RunLoop.main { return CFRunLoopGetMain() }
        if let known = loops.withLock({ loops in loops.values.first { $0.loop === loop } }) {
            return unsafe known.object
        }
        // The loop's thread has not asked for its object yet. CoreFoundation makes the object, and the thread finds it later.
        let thread = loop.posixThread.load(ordering: .relaxed)
        guard thread != 0, let pointer = unsafe runloops_foundation_loop(thread) else { return nil }
        // Safe: the pointer is that of a `CFRunLoop`, which CoreFoundation keeps for the thread.
        let object = unsafe Unmanaged<CFRunLoop>.fromOpaque(pointer).takeUnretainedValue()
        let served = served(object, loop)
        loop.performInEveryMode { served.watch() }
        return object
    }

    private static func served(_ object: CFRunLoop, _ loop: RunLoop) -> ServedLoop {
        let (served, isNew) = loops.withLock { loops -> (ServedLoop, Bool) in
            if let known = loops[id(object)], known.loop === loop { return (known, false) }
            let new = ServedLoop(loop, object)
            loops[id(object)] = new
            return (new, true)
        }
        if isNew && loop !== RunLoop.main {
            loop.keepToTheEnd(Entry(object: id(object), loop: ObjectIdentifier(loop)))
        }
        return served
    }

    /// The entry of a loop in the table, which the loop's end removes, whether the loop has ever run or not.
    private final class Entry: Sendable {
        let object: ObjectIdentifier
        let loop: ObjectIdentifier

        init(object: ObjectIdentifier, loop: ObjectIdentifier) {
            self.object = object
            self.loop = loop
        }

        deinit {
            // The object of a later thread can have the address of this one.
            let removed = ServedLoop.loops.withLock { loops -> ServedLoop? in
                guard let known = loops[object], ObjectIdentifier(known.loop) == loop else { return nil }
                loops[object] = nil
                return known
            }
            removed?.hasEnded()
        }
    }

    // MARK: - Sources

    /// Notes a source that is added to the loop.
    func note(_ source: SourceObject) {
        let reference = WeakReference(source)
        sources.withLock { $0[ObjectIdentifier(source)] = reference }
    }

    /// Forgets a source that is invalid or destroyed.
    func forget(_ source: ObjectIdentifier) { _ = sources.withLock { $0.removeValue(forKey: source) } }

    private func hasEnded() {
        for reference in sources.withLock({ exchange(&$0, with: [:]) }).values {
            reference.object(as: SourceObject.self)?.hasEnded(self)
        }
    }

    private static func id(_ object: CFRunLoop) -> ObjectIdentifier { ObjectIdentifier(object) }

    // MARK: - Working on the loop's thread

    /// Does some work on the loop's thread: at once if that is the calling one, and otherwise as soon as the loop serves messages.
    func onThread(_ work: @escaping () -> Void) {
        if loop.isCurrent { return work() }
        let handed = Handed(work: work)
        loop.performInEveryMode { handed.work() }
    }

    /// Work that is handed to the loop's thread.
    ///
    /// `@unchecked Sendable`: the work is done once, on that thread. As with CoreFoundation, the caller is responsible for what the
    /// work of the user holds.
    struct Handed: @unchecked Sendable {
        let work: () -> Void
    }

    /// Begins to follow the loop's runs.
    private func watch() {
        if state.withLock({ exchange(&$0.isWatched, with: true) }) { return }
        if let mode = loop.currentMode { state.withLock { $0.modes = [mode] } }
        loop.add(makeObserver(), forMode: .common)
        // So the thread's end destroys the object, even if another thread was the first to ask for it.
        CoreFoundation.CFRunLoopGetCurrent()
    }

    /// Runs the loop in a mode, and follows this run also if the mode is not a common one.
    func run(
        in mode: RunLoop.Mode, until deadline: ContinuousClock.Instant, _ returnsAfterSource: Bool
    ) -> RunLoop.RunResult {
        let isCommon = loop.detailsHere?.commonModes.contains(mode.rawValue) ?? true
        if isCommon {
            return loop.run(in: mode, until: deadline, returnAfterSourceHandled: returnsAfterSource)
        }
        let observer = makeObserver()
        loop.add(observer, forMode: mode)
        defer { observer.invalidate() }
        return loop.run(in: mode, until: deadline, returnAfterSourceHandled: returnsAfterSource)
    }

    private func makeObserver() -> RunLoop.Observer {
        RunLoop.Observer(activities: [.entry, .beforeWaiting, .afterWaiting, .exit]) {
            [weak self] _, activity in
            guard let self else { return }
            let mode = loop.currentMode
            state.withLock { state in
                switch activity {
                case .entry: if let mode { state.modes.append(mode) }
                case .exit: state.modes.removeLast()
                default: state.isWaiting = activity == .beforeWaiting
                }
            }
        }
    }
}

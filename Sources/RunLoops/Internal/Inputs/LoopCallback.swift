/// A loop as the callbacks in it see it.
package protocol CallbackLoop: AnyObject, Sendable {
    @discardableResult
    func perform(fileID: StaticString, line: Int, _ block: @escaping @Sendable () -> Void) -> Bool

    /// The object for a key that only the loop's thread uses, which is made now if there is none.
    func companion<Companion: AnyObject>(_ key: ObjectIdentifier, make: () -> Companion) -> Companion
}

/// A handle through which any thread can make a loop call a handler once.
///
/// The handler stays with its loop, so it can hold objects that are confined to the loop's thread. Other threads hold only the
/// handler's identifier.
package struct LoopCallback: Sendable {
    /// The loop that calls the handler.
    ///
    /// The reference is weak, so that it does not keep the loop, with its handlers, alive after the loop's thread has ended.
    private let loop: WeakReference
    private let number: Int
    private let origin: SourceLocation

    /// Stores a handler in the calling thread's loop.
    ///
    /// If the loop has ended, the handler is released immediately.
    package init(_ loop: some CallbackLoop, _ origin: SourceLocation, _ handler: @escaping () -> Void) {
        self.loop = WeakReference(loop)
        self.origin = origin
        number = LoopCallback.handlers(of: loop).add(handler)
    }

    /// True if the loop was destroyed, so the handler can no longer be called.
    fileprivate var isGone: Bool { !loop.isAlive }

    /// Schedules the call of the handler on its loop.
    ///
    /// Any thread can call this. If the loop ends before it has called the handler, the handler is not called. In a forked child, no
    /// handler is called.
    package func schedule() {
        if Fork.isChild { return }
        guard let loop = loop.sendable as? any CallbackLoop else { return }
        let number = number
        loop.perform(fileID: origin.fileID, line: Int(origin.line)) {
            LoopCallback.handlers(of: loop).take(number)?()
        }
    }

    private static func handlers(of loop: some CallbackLoop) -> Handlers {
        loop.companion(ObjectIdentifier(Handlers.self)) { Handlers() }
    }

    /// The handlers of one loop that wait to be called.
    ///
    /// Only the loop's thread may use this object.
    private final class Handlers {
        private var handlers: [Int: () -> Void] = [:]
        private var count = 0

        func add(_ handler: @escaping () -> Void) -> Int {
            count += 1
            handlers[count] = handler
            return count
        }

        func take(_ number: Int) -> (() -> Void)? { handlers.removeValue(forKey: number) }
    }
}

/// The callbacks for one event, such as the end of a port.
///
/// A callback can outlive its loop: the loop can be destroyed before the event.
package struct LoopCallbacks: Sendable {
    private var callbacks: [LoopCallback] = []
    /// The threshold for a clean-up.
    ///
    /// If at least this many callbacks are stored, ``add(_:)`` removes those of destroyed loops before it adds the new one.
    private var limit = 8

    package init() {}

    package mutating func add(_ callback: LoopCallback) {
        if callbacks.count >= limit {
            callbacks.removeAll { $0.isGone }
            limit = max(8, 2 * callbacks.count)
        }
        callbacks.append(callback)
    }

    package var isEmpty: Bool { callbacks.isEmpty }

    /// Schedules the calls of all handlers, in the order in which the callbacks were added.
    package func schedule() { for callback in callbacks { callback.schedule() } }
}

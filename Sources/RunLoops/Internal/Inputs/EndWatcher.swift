/// A handler of one loop, which any thread can have called there, once.
///
/// The handler stays with its loop, so it may hold objects that are confined to the loop's thread: other threads have only a
/// number.
package struct EndWatcher: Sendable {
    /// Not held: the loop of a thread that has ended goes, and with it the handler.
    private let loop: WeakReference
    private let number: Int
    private let origin: SourceLocation

    /// Keeps a handler with the calling thread's loop.
    ///
    /// A loop that has ended releases it at once.
    package init(_ loop: RunLoop, _ origin: SourceLocation, _ handler: @escaping () -> Void) {
        self.loop = WeakReference(loop)
        self.origin = origin
        number = EndWatcher.handlers(of: loop).add(handler)
    }

    /// True if the loop was destroyed, so that no handler would be called.
    fileprivate var isGone: Bool { !loop.isAlive }

    /// Has the handler called.
    ///
    /// Any thread. If the loop has ended, or ends before it has done so, the handler is not called.
    package func tell() {
        guard let loop = loop.object(as: RunLoop.self) else { return }
        let number = number
        loop.perform(fileID: origin.fileID, line: Int(origin.line)) {
            EndWatcher.handlers(of: loop).take(number)?()
        }
    }

    private static func handlers(of loop: RunLoop) -> Handlers {
        loop.companion(ObjectIdentifier(Handlers.self)) { Handlers() }
    }

    /// The handlers of one loop.
    ///
    /// The loop's thread only.
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

/// The watchers of one end, some of whose loops may be destroyed before it comes.
package struct EndWatchers: Sendable {
    private var watchers: [EndWatcher] = []
    /// The number of watchers at which those of destroyed loops are released next.
    private var limit = 8

    package init() {}

    package mutating func add(_ watcher: EndWatcher) {
        if watchers.count >= limit {
            watchers.removeAll { $0.isGone }
            limit = max(8, 2 * watchers.count)
        }
        watchers.append(watcher)
    }

    package var isEmpty: Bool { watchers.isEmpty }

    /// Tells all, in the order in which they came.
    package func tell() { for watcher in watchers { watcher.tell() } }
}

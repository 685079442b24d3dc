/// A handler of one loop, which any thread can have called there, once.
///
/// The handler stays with its loop, so it may hold what is confined to the loop's thread: what others have is
/// a number.
struct EndWatcher: Sendable {
    private let loop: RunLoop
    private let number: Int

    /// Keeps a handler with the calling thread's loop.
    ///
    /// A loop that has ended lets go of it at once.
    init(_ loop: RunLoop, _ handler: @escaping () -> Void) {
        self.loop = loop
        number = EndWatcher.handlers(of: loop).add(handler)
    }

    /// Has the handler called.
    ///
    /// Any thread. If the loop has ended, or ends before it has done so, the handler is not called.
    func tell() {
        let (loop, number) = (loop, number)
        loop.perform { EndWatcher.handlers(of: loop).take(number)?() }
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

/// The end of a loop's thread, for those that asked for it.
///
/// It owns the end handlers, and the notice of the end.
///
/// > Thread safety: the loop's own thread only.
final class LoopEnding {
    /// The end handlers, in the order in which they were added; some may have been taken back.
    private var handlers: [RunLoop.EndHandler] = []

    /// The number of those that were taken back.
    private var cancelled = 0

    /// Given when the thread has released the loop, whichever way the thread ends.
    var notice: EndNotice?

    /// The number of handles that the loop holds.
    var count: Int { handlers.count }

    /// Adds a handler that is called when the thread ends.
    func add(_ handler: @escaping () -> Void, of members: LoopMembers) -> RunLoop.EndHandler {
        let added = RunLoop.EndHandler(handler, of: members, in: self)
        handlers.append(added)
        return added
    }

    /// Notes that a handler was taken back.
    ///
    /// Its handle is released when half of all handles are such.
    func wasCancelled() {
        cancelled += 1
        if 2 * cancelled <= handlers.count { return }
        handlers.removeAll { !$0.isWaiting }
        cancelled = 0
    }

    /// Calls the end handlers, last one first.
    func callHandlers(by caller: HandlerCaller) {
        // Taken out one by one: a handler may add another one, or take one back.
        while let last = handlers.popLast() {
            if let handler = last.take() {
                caller.call(.endHandler, as: .endHandler, handler)
            } else {
                cancelled -= 1
            }
        }
    }
}

/// The handlers that a loop calls when its thread ends, and the notice of the thread's end.
///
/// > Thread safety: the loop's own thread only.
final class LoopEnding {
    /// The end handlers, in the order in which they were added; some can already have been cancelled.
    private var handlers: [EndHandler] = []

    /// The number of handlers that are still in the list although they were cancelled.
    private var cancelled = 0

    /// The notice that wakes the threads and tasks that wait for the end of this thread.
    ///
    /// It is posted when the thread has released the loop, in whichever way the thread ends.
    var notice: EndNotice?

    /// The number of end handlers in the list, including cancelled handlers.
    var count: Int { handlers.count }

    /// Adds a handler that is called when the thread ends.
    func add(_ handler: @escaping () -> Void, of members: LoopMembers) -> EndHandler {
        let added = EndHandler(handler, of: members, in: self)
        handlers.append(added)
        return added
    }

    /// Records that a handler in the list was cancelled.
    ///
    /// The list releases the cancelled handlers when more than half of its handlers are cancelled.
    func wasCancelled() {
        cancelled += 1
        if 2 * cancelled <= handlers.count { return }
        handlers.removeAll { !$0.isWaiting }
        cancelled = 0
    }

    /// Calls the end handlers, the last added first.
    func callHandlers(by caller: HandlerCaller) {
        // The handlers are removed one by one, because a handler can add or cancel other handlers.
        while let last = handlers.popLast() {
            if let handler = last.take() {
                caller.call(.endHandler, as: .endHandler, handler)
            } else {
                // A handler that another thread has cancelled is not necessarily counted yet.
                cancelled = max(cancelled - 1, 0)
            }
        }
    }
}

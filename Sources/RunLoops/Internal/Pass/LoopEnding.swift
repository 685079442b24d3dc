/// The end of a loop's thread, for those that asked for it.
///
/// It owns the end handlers, and the notice of the end.
///
/// > Thread safety: the loop's own thread only.
final class LoopEnding {
    /// The end handlers, in the order in which they were added.
    private var handlers: [() -> Void] = []

    /// Given when the thread has released the loop, whichever way the thread ends.
    var notice: EndNotice?

    /// Adds a handler that is called when the thread ends.
    func addHandler(_ handler: @escaping () -> Void) { handlers.append(handler) }

    /// Calls the end handlers, last one first.
    func callHandlers(by caller: HandlerCaller) {
        // Taken out one by one: a handler may add another one.
        while let handler = handlers.popLast() { caller.call(.endHandler, as: .endHandler, handler) }
    }
}

extension RunLoop {
    /// The handle of a handler that a loop's thread calls when it ends.
    ///
    /// ``RunLoop/addEndHandler(_:)`` returns it. The loop holds the handler, so you may drop the handle.
    ///
    /// ```swift
    /// let handler = RunLoop.current.addEndHandler { connection.close() }
    /// connection.onClose = { handler.cancel() }
    /// ```
    ///
    /// > Thread safety: the thread of its loop.
    public final class EndHandler {
        /// Nil once the handler was called or taken back, or if the loop had ended.
        private var handler: (() -> Void)?
        private var members: LoopMembers?
        /// The ending of the loop's thread; held weakly, because it holds this handle.
        private weak var ending: LoopEnding?

        /// Makes the handle of a handler that was released at once.
        init() {}

        init(_ handler: @escaping () -> Void, of members: LoopMembers, in ending: LoopEnding) {
            self.handler = handler
            self.members = members
            self.ending = ending
        }

        /// Takes the handler back, and releases it.
        ///
        /// The handler is not called any more. If it was called or taken back before, or is running, this does nothing.
        public func cancel() {
            if handler == nil { return }
            _ = members?.requireCurrent("RunLoop.EndHandler.cancel")
            let released = take()
            ending?.wasCancelled()
            // Released last, when all state is in order: a deinit of what the handler holds may cancel other handlers.
            withExtendedLifetime(released) {}
        }

        /// True if the handler is neither called nor taken back.
        var isWaiting: Bool { handler != nil }

        /// Takes the handler from this handle, which has none afterwards.
        ///
        /// - Returns: The handler, or nil if it was taken before.
        func take() -> (() -> Void)? {
            let taken = handler
            handler = nil
            members = nil
            return taken
        }
    }
}

@available(*, unavailable)
extension RunLoop.EndHandler: Sendable {}

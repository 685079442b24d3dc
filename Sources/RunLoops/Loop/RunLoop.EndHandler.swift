extension RunLoop {
    /// A handle for cancelling an end handler, which a loop's thread calls when the thread ends.
    ///
    /// ``RunLoop/addEndHandler(_:)`` returns the handle. The loop holds the handler, so you do not need to keep the handle.
    ///
    /// ```swift
    /// let handler = RunLoop.current.addEndHandler { connection.close() }
    /// connection.onClose = { handler.cancel() }
    /// ```
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public final class EndHandler {
        package let end = InputEnd()

        /// The handler; nil after it was called or cancelled.
        ///
        /// If the loop had ended before the handler was added, this is nil from the beginning.
        fileprivate var handler: (() -> Void)?
        /// The object that calls the loop's end handlers.
        ///
        /// The reference is weak, because that object holds this handle.
        fileprivate weak var ending: LoopEnding?

        /// Makes a handle for a handler that was released because the loop had ended.
        init() {}

        init(_ handler: @escaping () -> Void, of members: LoopMembers, in ending: LoopEnding) {
            self.handler = handler
            self.ending = ending
            _ = end.join(members.handle)
        }

        /// Cancels the handler, and releases it.
        ///
        /// The handler is not called afterwards. If it was called or cancelled before, or is running, the call does nothing.
        public func cancel() { endAnywhere() }

        /// True until the handler is called or cancelled.
        var isWaiting: Bool { !end.hasEnded }

        /// Removes the handler from this handle.
        ///
        /// - Returns: The handler, or nil if it was cancelled before.
        func take() -> (() -> Void)? {
            let mayBeCalled = end.beginLastCall()
            let taken = handler
            handler = nil
            return mayBeCalled ? taken : nil
        }
    }
}

extension RunLoop.EndHandler: EndedAnywhere {
    package func giveBack(inForkedChild isChild: Bool) {
        let released = handler
        handler = nil
        if !isChild { ending?.wasCancelled() }
        // The handler is released last, when all state is consistent, because destroying an object that it holds can cancel other
        // handlers.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension RunLoop.EndHandler: Sendable {}

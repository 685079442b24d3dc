#if Tracing
    public import RunLoops
    public import Tracing

    // Each method makes the context current only while the block itself runs. The handlers around the block keep their own
    // contexts.

    extension RunLoop {
        /// Performs a block on the loop's thread with a tracing context, and returns at once.
        ///
        /// This is the same as ``/RunLoops/RunLoop/perform(inModes:fileID:line:_:)``, except that `ServiceContext.current` in the
        /// block is the given context. Spans that the block starts are children of the span in the context:
        ///
        /// ```swift
        /// withSpan("checkout") { _ in
        ///     reserve()
        ///     worker.runLoop.perform(propagating: .current) {
        ///         withSpan("charge") { _ in charge() }
        ///     }
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - context: The context, usually `.current` (the context of the calling code); nil for none.
        ///   - modes: The modes; at least one. `Mode.common` stands for all common modes.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        ///   - block: The block.
        /// - Returns: False if the loop's thread has ended; the block is then destroyed at once.
        ///
        /// > Thread safety: any thread. Not in a signal handler.
        @discardableResult
        public func perform(
            propagating context: ServiceContext?, inModes modes: [Mode] = [.common],
            fileID: StaticString = #fileID, line: Int = #line, _ block: @escaping @Sendable () -> Void
        ) -> Bool {
            perform(inModes: modes, fileID: fileID, line: line) {
                ServiceContext.withValue(context) { block() }
            }
        }

        /// Performs a block on the loop's thread with a tracing context, after a delay.
        ///
        /// This is the same as ``/RunLoops/RunLoop/perform(after:inModes:fileID:line:_:)``, except that `ServiceContext.current` in
        /// the block is the given context.
        ///
        /// - Parameters:
        ///   - delay: The delay; zero or less means the next pass.
        ///   - context: The context, usually `.current` (the context of the calling code); nil for none.
        ///   - modes: The modes; at least one. `Mode.common` stands for all common modes.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        ///   - block: The block.
        /// - Returns: A handle that can cancel the block. Releasing the handle does not cancel it.
        ///
        /// > Thread safety: any thread. Not in a signal handler.
        @discardableResult
        public func perform(
            after delay: Duration, propagating context: ServiceContext?, inModes modes: [Mode] = [.common],
            fileID: StaticString = #fileID, line: Int = #line, _ block: @escaping @Sendable () -> Void
        ) -> DelayedPerform {
            perform(after: delay, inModes: modes, fileID: fileID, line: line) {
                ServiceContext.withValue(context) { block() }
            }
        }

        /// Performs a block on the loop's thread with a tracing context, and waits for its result.
        ///
        /// This is the same as the `performAndWait` that takes no context, except that `ServiceContext.current` in the block is the
        /// given context.
        ///
        /// - Parameters:
        ///   - context: The context, usually `.current` (the context of the calling code); nil for none.
        ///   - modes: The modes; at least one. `Mode.common` stands for all common modes.
        ///   - deadline: The time at which the wait ends; nil for never.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        ///   - block: The block.
        /// - Returns: The result of the block.
        /// - Throws: The error of the block, or `PerformError`.
        ///
        /// > Thread safety: any thread; it blocks.
        @available(
            *, noasync, message: "this blocks the thread; await the asynchronous performAndWait instead"
        )
        public func performAndWait<Result: Sendable>(
            propagating context: ServiceContext?, inModes modes: [Mode] = [.common],
            before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID,
            line: Int = #line, _ block: @escaping @Sendable () throws -> Result
        ) throws -> Result {
            try performAndWait(inModes: modes, before: deadline, fileID: fileID, line: line) {
                try ServiceContext.withValue(context) { try block() }
            }
        }

        /// Performs a block on the loop's thread with a tracing context, and waits for its result without blocking a thread.
        ///
        /// This is the same as the `performAndWait` that takes no context, except that `ServiceContext.current` in the block is the
        /// given context.
        ///
        /// - Parameters:
        ///   - context: The context, usually `.current` (the context of the calling code); nil for none.
        ///   - modes: The modes; at least one. `Mode.common` stands for all common modes.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        ///   - block: The block.
        /// - Returns: The result of the block.
        /// - Throws: The error of the block, or `PerformError`.
        ///
        /// > Thread safety: any task.
        nonisolated(nonsending) public func performAndWait<Result: Sendable>(
            propagating context: ServiceContext?, inModes modes: [Mode] = [.common],
            fileID: StaticString = #fileID, line: Int = #line,
            _ block: @escaping @Sendable () throws -> Result
        ) async throws -> Result {
            try await performAndWait(inModes: modes, fileID: fileID, line: line) {
                try ServiceContext.withValue(context) { try block() }
            }
        }
    }
#else
    public import RunLoops

    extension RunLoop {
        /// A placeholder for this method, which is available only with the package trait `Tracing`.
        @available(
            *, unavailable,
            message: "name the trait where you name the package: .package(url: …, traits: [\"Tracing\"])"
        )
        public func perform(propagating context: Any?, _ block: @escaping @Sendable () -> Void) {}
    }
#endif

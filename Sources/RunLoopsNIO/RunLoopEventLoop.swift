#if NIO
    public import Dispatch
    public import NIOCore
    public import RunLoops

    /// An event loop of SwiftNIO that is a part of a run loop.
    ///
    /// ```swift
    /// let eventLoop = RunLoopEventLoop()
    /// let channel = RunLoopListenerBootstrap(group: eventLoop)
    ///     .childChannelInitializer { channel in
    ///         channel.eventLoop.makeCompletedFuture {
    ///             try channel.pipeline.syncOperations.configureHTTPServerPipeline()
    ///         }
    ///     }
    ///     .bind(host: "127.0.0.1", port: 8080)
    /// RunLoop.current.run()
    /// ```
    ///
    /// The handlers of its channels, its tasks and its timers run on the thread of the run loop, between the run loop's other inputs,
    /// and only while the run loop runs in one of the event loop's modes. A handler can use everything that belongs to the thread.
    /// ``executor`` is the run loop itself, so a handler is isolated to every actor of the run loop, and such an actor is on the event
    /// loop.
    ///
    /// While a handler, a task or a callback of a future is running, the event loop serves nothing else, even if that handler runs the
    /// run loop in one of the event loop's modes. SwiftNIO's handlers do not expect to be entered again.
    ///
    /// The event loop keeps its modes alive until it is shut down or the run loop ends. Then it closes its channels, fails the tasks
    /// that wait for a deadline with `EventLoopError.shutdown`, and runs the other tasks. Futures whose promises are completed later no
    /// longer call their callbacks: see <doc:SwiftNIOOnARunLoop>.
    ///
    /// > Thread safety: any thread, as SwiftNIO documents for each member.
    public final class RunLoopEventLoop: EventLoop {
        /// The run loop that the event loop is a part of.
        public let runLoop: RunLoop

        /// The modes in which the event loop is served.
        public let modes: [RunLoop.Mode]

        private let inbox: TaskInbox
        private let bell: RungInput.Bell
        /// The part that belongs to the run loop's thread.
        ///
        /// `unsafe`: the reference is constant, and only code on the thread of the run loop uses the object.
        nonisolated(unsafe) private let confinedCore: EventLoopCore

        /// Makes an event loop that is a part of the calling thread's run loop.
        ///
        /// - Parameters:
        ///   - modes: The modes in which the event loop is served; at least one mode. `.common` stands for all common modes.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        public init(
            inModes modes: [RunLoop.Mode] = [.common], fileID: StaticString = #fileID, line: Int = #line
        ) {
            if modes.isEmpty {
                misuse(
                    "RunLoopEventLoop.init: no mode, so the event loop would never be served; use [.common]")
            }
            runLoop = .current
            self.modes = modes
            inbox = TaskInbox()
            unsafe confinedCore = EventLoopCore(runLoop, modes, inbox, SourceLocation(fileID, line))
            bell = unsafe confinedCore.bell
        }

        /// The part that belongs to the run loop's thread; only that thread may use it.
        var core: EventLoopCore {
            assert(runLoop.isCurrent, "the core of an event loop is used on its thread")
            return unsafe confinedCore
        }

        /// True if the calling thread is the thread of the run loop.
        ///
        /// This includes all handlers of the run loop, not only those of SwiftNIO.
        public var inEventLoop: Bool { runLoop.isCurrent }

        /// Runs a task on the run loop's thread, after the tasks that were given to the event loop earlier.
        ///
        /// If the event loop has ended, the task is destroyed, and the first such task is reported to
        /// ``/RunLoops/RunLoopDiagnostics``.
        ///
        /// - Parameter task: The task.
        public func execute(_ task: @escaping @Sendable () -> Void) {
            if give(task) || !inbox.reportsRefusal() { return }
            RunLoopDiagnostics.report(
                "RunLoopEventLoop.execute: a task was given to an event loop of \(runLoop) that has ended, and is destroyed"
            )
        }

        /// Gives a task to the event loop.
        ///
        /// - Returns: False if the event loop has ended.
        func give(_ task: @escaping @Sendable () -> Void) -> Bool {
            switch inbox.append(task) {
            case .first:
                if runLoop.isCurrent { core.enqueue(core.tasks) } else { bell.ring() }
                return true
            case .further: return true
            case .refused: return false
            }
        }

        /// Completes a promise that only the caller has, after the event loop has ended.
        ///
        /// SwiftNIO would pass the result to the event loop, which refuses it, and would then end a debug build, because the promise is
        /// destroyed without a result.
        func completeLate<T>(_ promise: EventLoopPromise<T>, _ result: Result<T, any Error>) {
            assert(inbox.isClosed, "a promise is completed by its event loop, as long as that has not ended")
            // Safe: no other thread can use the promise, or its future, or add callbacks to it.
            promise.assumeIsolatedUnsafeUnchecked().completeWith(result)
        }

        /// Calls a function on the run loop's thread, and returns its future.
        ///
        /// - Parameter body: The function.
        /// - Returns: The future, which has failed with `EventLoopError.shutdown` if the event loop has ended.
        func started<Value: Sendable>(
            _ body: @escaping @Sendable () -> EventLoopFuture<Value>
        ) -> EventLoopFuture<Value> {
            if runLoop.isCurrent { return body() }
            let promise = makePromise(of: Value.self)
            if !give({ body().cascade(to: promise) }) {
                completeLate(promise, .failure(EventLoopError.shutdown))
            }
            return promise.futureResult
        }

        /// Calls a function on the run loop's thread, and awaits its future.
        ///
        /// - Parameter body: The function.
        /// - Returns: The value of the future.
        /// - Throws: The error of the future; `EventLoopError.shutdown` if the event loop has ended.
        func awaited<Value: Sendable>(
            _ body: @escaping @Sendable () -> EventLoopFuture<Value>
        ) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                if !give({ body().whenComplete { continuation.resume(with: $0) } }) {
                    continuation.resume(throwing: EventLoopError.shutdown)
                }
            }
        }

        /// Ends the program if the caller is not on the run loop's thread, and the event loop has not ended.
        ///
        /// - Parameters:
        ///   - file: The file of the call.
        ///   - line: The line of the call.
        public func preconditionInEventLoop(file: StaticString, line: UInt) {
            precondition(
                inEventLoop || inbox.isClosed, "called outside the thread of the \(self)", file: file,
                line: line)
        }

        /// Ends the program if the caller is on the run loop's thread.
        ///
        /// - Parameters:
        ///   - file: The file of the call.
        ///   - line: The line of the call.
        public func preconditionNotInEventLoop(file: StaticString, line: UInt) {
            precondition(!inEventLoop, "called on the thread of the \(self)", file: file, line: line)
        }

        /// Runs a task on the run loop's thread, and returns its result as a future.
        ///
        /// - Parameter task: The task.
        /// - Returns: The future, which fails with `EventLoopError.shutdown` if the event loop has ended.
        public func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
            let promise = makePromise(of: T.self)
            if !give({ promise.assumeIsolated().completeWith(Result(catching: task)) }) {
                completeLate(promise, .failure(EventLoopError.shutdown))
            }
            return promise.futureResult
        }

        /// Runs a task on the run loop's thread at a deadline, or as soon as possible afterwards.
        ///
        /// Tasks with the same deadline run in the order in which they were scheduled.
        ///
        /// - Parameters:
        ///   - deadline: The deadline, on SwiftNIO's clock, which stands still while the machine sleeps.
        ///   - task: The task.
        /// - Returns: The task's result as a future, which fails with `EventLoopError.shutdown` if the event loop ends first.
        @discardableResult
        public func scheduleTask<T>(
            deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
        ) -> Scheduled<T> {
            let promise = makePromise(of: T.self)
            let scheduled = ScheduledTask(deadline) { error in
                if let error {
                    promise.fail(error)
                } else {
                    promise.assumeIsolated().completeWith(Result(catching: task))
                }
            }
            if runLoop.isCurrent {
                schedule(scheduled)
            } else if !give({ [self] in schedule(scheduled) }) {
                completeLate(promise, .failure(EventLoopError.shutdown))
            }
            return Scheduled(promise: promise) { [self] in
                if runLoop.isCurrent {
                    core.tasks.cancel(scheduled)
                } else {
                    _ = give { [self] in core.tasks.cancel(scheduled) }
                }
            }
        }

        private func schedule(_ task: ScheduledTask) {
            if case .ended = core.phase { return task.fail(EventLoopError.shutdown) }
            core.tasks.schedule(task)
        }

        /// Runs a task on the run loop's thread after a delay.
        ///
        /// - Parameters:
        ///   - delay: The delay.
        ///   - task: The task.
        /// - Returns: The task's result as a future, which fails with `EventLoopError.shutdown` if the event loop ends first.
        @discardableResult
        public func scheduleTask<T>(
            in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T
        ) -> Scheduled<T> { scheduleTask(deadline: .now() + delay, task) }

        /// The run loop, which is the executor of the event loop.
        ///
        /// Jobs of actors and the event loop's tasks wait in two queues, so there is no order between a job and a task.
        public var executor: any SerialExecutor { runLoop }

        /// Enqueues a job for the run loop.
        ///
        /// - Parameter job: The job.
        public func enqueue(_ job: consuming ExecutorJob) { runLoop.enqueue(job) }

        /// Closes all channels, and ends the event loop.
        ///
        /// The channels are closed through their pipelines. When the last one is closed, tasks that wait for a deadline fail with
        /// `EventLoopError.shutdown`, and the other tasks run. The run loop goes on, because it belongs to its thread. A task that is
        /// given to the event loop later is destroyed.
        ///
        /// - Parameters:
        ///   - queue: The queue that calls the callback.
        ///   - callback: Called when the event loop has ended; the error is always nil.
        public func shutdownGracefully(
            queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void
        ) {
            let isGiven = give { [self] in core.shutDown { queue.async { callback(nil) } } }
            if !isGiven { queue.async { callback(nil) } }
        }
    }

    extension RunLoopEventLoop: CustomStringConvertible {
        /// The run loop, and the modes.
        public var description: String {
            "event loop of \(runLoop) in \(modes.map(\.rawValue).joined(separator: ", "))"
        }
    }
#else
    /// A placeholder for this type, which is available only with the package trait `NIO`.
    @available(
        *, unavailable,
        message: "name the trait where you name the package: .package(url: …, traits: [\"NIO\"])"
    )
    public enum RunLoopEventLoop: Sendable {}
#endif

#if Lifecycle
    public import RunLoops
    public import ServiceLifecycle

    extension RunLoopThread: Service {
        /// Waits until the thread ends, and ends the thread when the service group shuts down.
        ///
        /// At a graceful shutdown, the loop first runs the blocks that were passed to `perform` before the shutdown; it runs them
        /// in the common modes. Then the thread ends. If the task is cancelled, the loop finishes its pass, and the thread ends
        /// without running the blocks that are still queued. In both cases this method returns when the thread's loop has ended.
        ///
        /// The thread runs as soon as it is initialized, even before the service group runs. If other code ends the thread, the
        /// service ends.
        public func run() async {
            await withTaskCancellationHandler {
                await withGracefulShutdownHandler {
                    // The wait happens in another task, because a cancellation would end a wait in this task before the thread has
                    // ended.
                    await Task { _ = await self.join() }.value
                } onGracefulShutdown: {
                    self.runLoop.perform { self.stop() }
                }
            } onCancel: {
                self.stop()
            }
        }
    }
#endif

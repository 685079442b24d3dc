#if Lifecycle
    public import RunLoops
    public import ServiceLifecycle

    extension RunLoopThread: Service {
        /// Waits for the thread to end, and ends it when the service group shuts down.
        ///
        /// At a graceful shutdown, the loop first runs, in the common modes, the blocks that were passed to `perform` before the
        /// shutdown. Then the thread ends. If the task is cancelled, the loop finishes its pass, and the thread ends without
        /// running the blocks that are still queued. In both cases this method returns when the thread's loop has ended.
        ///
        /// The thread runs as soon as it is initialized, even before the group runs. If other code ends the thread, the service
        /// ends.
        public func run() async {
            await withTaskCancellationHandler {
                await withGracefulShutdownHandler {
                    // Another task waits for the thread. If this task waited, a cancellation would end the wait at once, before the
                    // thread has ended.
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

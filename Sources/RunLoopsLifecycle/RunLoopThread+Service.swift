#if Lifecycle
    public import RunLoops
    public import ServiceLifecycle

    extension RunLoopThread: Service {
        /// Waits for the thread to end, and ends it when the service group shuts down.
        ///
        /// At a graceful shutdown the loop still runs the blocks that were passed to `perform` before the shutdown, in the common
        /// modes, and then the thread ends. If the task is cancelled, the loop finishes its pass, and the thread ends without
        /// running the blocks that wait. In both cases this method returns when the thread's loop has ended.
        ///
        /// The thread runs as soon as it is initialized, even before the group runs. If other code ends the thread, the service
        /// ends.
        public func run() async {
            await withTaskCancellationHandler {
                await withGracefulShutdownHandler {
                    // The wait is in a task of its own. In this task a cancellation would end the wait at once, but the thread may
                    // need a moment to end.
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

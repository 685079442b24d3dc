#if Lifecycle
    public import Inspection
    internal import RunLoops
    public import ServiceLifecycle

    extension Inspector: Service {
        /// Waits for the service group to shut down, and then stops the inspector.
        ///
        /// The inspector answers as soon as it is initialized, even before the group runs. A group shuts down its first service
        /// last, so make the inspector the first service: it then shows what the other services do during the shutdown.
        public func run() async {
            let end = OneShot<Void>()
            await withGracefulShutdownHandler {
                await end.value(before: .never, timedOut: (), cancelled: ()) {}
            } onGracefulShutdown: {
                end.decide(())
            }
            stop()
        }
    }
#endif

#if Lifecycle
    public import Inspection
    internal import RunLoops
    public import ServiceLifecycle

    extension Inspector: Service {
        /// Waits for the service group to shut down, and then stops the inspector.
        ///
        /// The inspector answers as soon as it is initialized, even before the group runs. Make it the first service of the group,
        /// which is the last one to be shut down, so that it shows what the other services do meanwhile.
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

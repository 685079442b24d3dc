#if Lifecycle
    public import Inspection
    internal import RunLoops
    public import ServiceLifecycle

    extension Inspector: Service {
        /// Waits for the service group to shut down, and stops the inspector then.
        ///
        /// The inspector answers from its initializer on, also before the group runs. Make it the first service of the group, which
        /// is the last one to be shut down: so it shows what the others do meanwhile.
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

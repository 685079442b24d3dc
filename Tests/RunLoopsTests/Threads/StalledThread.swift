#if DEBUG
    import TestSupport
    import Testing

    @testable import RunLoops

    /// Stalls the thread that it watches, once, the first time that it comes to a step.
    final class StalledThread: StepWatcher, @unchecked Sendable {
        private let stall: Step
        private let isStalled = Gate()
        private let mayGoOn = Gate()
        /// The watched thread's own.
        private var hasStalled = false

        init(at step: Step) { stall = step }

        override func threadIs(at step: Step) {
            if hasStalled || step != stall { return }
            hasStalled = true
            isStalled.open()
            #expect(mayGoOn.wait())
        }

        /// Waits until the watched thread is stalled.
        func waitUntilStalled() { #expect(isStalled.wait()) }

        func goOn() { mayGoOn.open() }
    }
#endif

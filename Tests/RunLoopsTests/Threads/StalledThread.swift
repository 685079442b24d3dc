#if DEBUG
    import TestSupport
    import Testing

    @testable import RunLoops

    /// A watcher that stalls its thread once, the first time that the thread comes to a race point.
    final class StalledThread: RacePointWatcher, @unchecked Sendable {
        private let stall: RacePoint
        private let isStalled = Gate()
        private let mayGoOn = Gate()
        /// Only the watched thread uses this.
        private var hasStalled = false

        init(at point: RacePoint) { stall = point }

        override func threadIs(at point: RacePoint) {
            if hasStalled || point != stall { return }
            hasStalled = true
            isStalled.open()
            #expect(mayGoOn.wait())
        }

        /// Waits until the watched thread is stalled.
        func waitUntilStalled() { #expect(isStalled.wait()) }

        func goOn() { mayGoOn.open() }
    }
#endif

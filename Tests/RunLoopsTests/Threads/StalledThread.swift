#if DEBUG
    import TestSupport
    import Testing

    @testable import RunLoops

    /// A watcher that stalls its thread the first time that the thread reaches a race point.
    final class StalledThread: RacePointWatcher, @unchecked Sendable {
        private let stall: RacePoint
        private let isStalled = Gate()
        private let mayGoOn = Gate()
        /// Used by the watched thread only.
        private var hasStalled = false

        init(at point: RacePoint) { stall = point }

        override func threadIs(at point: RacePoint) {
            if hasStalled || point != stall { return }
            hasStalled = true
            isStalled.open()
            #expect(mayGoOn.wait())
        }

        /// Waits until the watched thread has stalled.
        func waitUntilStalled() { #expect(isStalled.wait()) }

        func goOn() { mayGoOn.open() }
    }
#endif

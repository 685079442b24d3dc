#if DEBUG
    import TestSupport
    import Testing

    @testable import RunLoops

    /// Stops that overlap.
    @Suite struct StopRaceTests {
        /// Blocks a thread after it has marked its stop, and before it sends it.
        private final class WaitTarget: RacePointWatcher, @unchecked Sendable {
            // Safe: any thread can use these gates.
            let isMarked = Gate()
            let maySend = Gate()

            override func threadIs(at point: RacePoint) {
                guard point == .pushLooks else { return }
                isMarked.open()
                #expect(maySend.wait())
            }
        }

        @Test func `a handler's stop ends its own run, even if another thread's stop comes in the inner run`()
            throws
        {
            let other = RunLoop.Mode("other")
            try onLoopThread { loop in
                let log = Log<RunLoop.RunResult>()
                for mode in [.default, other] { loop.add(Port<Int>(), forMode: mode) { _ in } }
                let holding = WaitTarget()
                let sent = Gate()
                loop.perform {
                    #expect(throws: Never.self) {
                        try RunLoopThread.detach(name: "stopper") { _ in
                            holding.watch { loop.stop() }
                            sent.open()
                        }
                    }
                    #expect(holding.isMarked.wait())
                    loop.stop()
                    loop.perform(inModes: [other]) {
                        holding.maySend.open()
                        #expect(sent.wait())
                    }
                    log.add(loop.run(in: other, until: .hang))
                }
                log.add(loop.run(in: .default, until: .hang))
                #expect(log.entries == [.stopped, .stopped])
            }
        }
    }
#endif

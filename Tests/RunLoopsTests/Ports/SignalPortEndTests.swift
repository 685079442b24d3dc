#if DEBUG
    import TestSupport
    import Testing

    @testable import RunLoops

    /// The end of a signal port is not a signal.
    @Suite struct SignalPortEndTests {
        /// The race points of the receiver between its check of the port and its sleep.
        static let steps: [RacePoint] = [.bellLooks, .bellArms]

        // Guarantees: The handler of a port of signals is called only for signals that were sent: the end of the port is not a
        // signal.
        @Test(arguments: steps) func `ending a port delivers no signal that was not sent, in a loop`(
            step: RacePoint
        ) throws {
            let port = Port<Void>()
            let signals = Shared()
            let stalled = StalledThread(at: step)
            let isReady = Gate()
            let thread = try BareThread {
                let loop = RunLoop.current
                loop.add(port, forMode: .default) { signals.increment() }
                port.onNoSenders { _ in }
                isReady.open()
                stalled.watch { #expect(loop.run(in: .default, until: .hang) == .finished) }
            }
            #expect(isReady.wait())
            // This causes a notice, for which the loop checks the port.
            _ = port.makeSendRight()
            stalled.waitUntilStalled()
            port.invalidate()
            stalled.goOn()
            thread.join()
            #expect(signals.count == 0)
        }

        // Guarantees: The handler of a port of signals is called only for signals that were sent: the end of the port is not a
        // signal.
        @Test func `ending a port delivers no signal that was not sent, in a set`() throws {
            let port = Port<Void>()
            let set = PortSet<String>()
            set.add(port, atEnd: "end") { "signal" }
            let stalled = StalledThread(at: .bellArms)
            let log = Log<String>()
            let thread = try BareThread {
                stalled.watch {
                    do throws(PortSetError) { while true { log.add(try set.receive(before: .hang)) } } catch {
                        log.add(error.description)
                    }
                }
            }
            // A nudge, as a notice causes it. A receiver in a set cannot ask for notices.
            if let node = port.core.bell.nudge() { ReadyNode.send(node) }
            stalled.waitUntilStalled()
            port.invalidate()
            stalled.goOn()
            thread.join()
            #expect(log.entries.count == 2 && log.entries[0] == "end")
            #expect(log.entries.last?.hasSuffix("the set has no members") == true)
        }

        @Test func `a signal that is sent while the port ends arrives once, or not at all`() throws {
            for _ in 0..<200 {
                let port = Port<Void>()
                let signals = Shared()
                let isReady = Gate()
                let thread = try BareThread {
                    let loop = RunLoop.current
                    loop.add(port, forMode: .default) { signals.increment() }
                    isReady.open()
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                }
                #expect(isReady.wait())
                try port.send()
                port.invalidate()
                thread.join()
                #expect(signals.count <= 1)
            }
        }
    }
#endif

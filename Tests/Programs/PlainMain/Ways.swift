import Dispatch
import RunLoops
import TestSupport

/// Every way to have work done on the main thread, each in a run of the main loop that the work ends.
enum Ways {
    private struct Way {
        let name: String
        /// Arranges that its argument is called on the main thread.
        let ask: (@escaping @Sendable () -> Void) throws -> Void
    }

    static func run() throws {
        let worker = try RunLoopThread(name: "worker")
        for way in loopWays(worker) + queueWays(worker) + taskWays(worker) {
            let name = way.name
            try way.ask {
                MainActor.assumeIsolated { tell("\(name):", here()) }
                RunLoop.main.stop()
            }
            RunLoop.main.run()
        }
        worker.stop()
    }

    private static func loopWays(_ worker: RunLoopThread) -> [Way] {
        [
            Way(name: "timer") { done in
                Timer.scheduledTimer(withTimeInterval: .milliseconds(1), repeats: false) { _ in done() }
            },
            Way(name: "port") { done in
                let port = Port<Int>()
                RunLoop.main.add(port, forMode: .default) { _ in
                    port.invalidate()
                    done()
                }
                worker.runLoop.perform { do { try port.send(1) } catch { tell(error) } }
            },
            Way(name: "descriptor") { done in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                    source.invalidate()
                    wire.close()
                    done()
                }
                try RunLoop.main.add(source, forMode: .default)
                worker.runLoop.perform { wire.send() }
            },
            Way(name: "manual source") { done in
                let source = ManualSource(handler: done)
                RunLoop.main.add(source, forMode: .default)
                worker.runLoop.perform { source.signal() }
            },
            Way(name: "block") { done in worker.runLoop.perform { RunLoop.main.perform(done) } },
            Way(name: "block after a delay") { done in
                worker.runLoop.perform { RunLoop.main.perform(after: .milliseconds(1), done) }
            },
            Way(name: "block that is waited for") { done in
                worker.runLoop.perform {
                    do { try RunLoop.main.performAndWait(done) } catch { tell(error) }
                }
            },
        ]
    }

    private static func queueWays(_ worker: RunLoopThread) -> [Way] {
        [
            Way(name: "async") { done in DispatchQueue.main.async(execute: done) },
            Way(name: "async from another thread") { done in
                worker.runLoop.perform { DispatchQueue.main.async(execute: done) }
            },
            Way(name: "asyncAfter") { done in
                DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(1), execute: done)
            },
            Way(name: "sync from another thread") { done in
                worker.runLoop.perform { DispatchQueue.main.sync(execute: done) }
            },
            Way(name: "dispatch timer") { done in
                let timer = DispatchSource.makeTimerSource(queue: .main)
                timer.schedule(deadline: .now() + .milliseconds(1))
                timer.setEventHandler {
                    timer.cancel()
                    done()
                }
                timer.resume()
            },
            Way(name: "dispatch group") { done in
                let group = DispatchGroup()
                DispatchQueue.global().async(group: group) {}
                group.notify(queue: .main, execute: done)
            },
            Way(name: "queue that targets it") { done in
                DispatchQueue(label: "targeting", target: .main).async(execute: done)
            },
        ]
    }

    private static func taskWays(_ worker: RunLoopThread) -> [Way] {
        [
            Way(name: "task") { done in Task { @MainActor in done() } },
            Way(name: "task from another thread") { done in
                worker.runLoop.perform { Task { @MainActor in done() } }
            },
            Way(name: "task that has slept") { done in
                Task { @MainActor in
                    do { try await Task.sleep(for: .milliseconds(1)) } catch { tell(error) }
                    done()
                }
            },
            Way(name: "task that came from elsewhere") { done in
                Task.detached { await MainActor.run { done() } }
            },
            Way(name: "task that awaits a block") { done in
                Task.detached {
                    do { try await RunLoop.main.performAndWait(done) } catch { tell(error) }
                }
            },
        ]
    }
}

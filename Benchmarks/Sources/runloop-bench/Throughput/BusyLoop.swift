internal import Dispatch
internal import RunLoops
internal import Synchronization

/// Isolates a pass that finds work of its own: a block that performs itself again, and nothing else.
///
/// Such a loop has no reason to enter the kernel, and every reason not to.
enum BusyLoop {
    /// System calls a pass, by the loop's statistics.
    static func kernelCallsPerPass(passes: Int) throws -> Double {
        let thread = try RunLoopThread(name: "busy")
        defer { thread.stop() }
        let chain = Chain(loop: thread.runLoop, length: passes)
        thread.runLoop.perform { chain.next() }
        return chain.wait()
    }

    private final class Chain: Sendable {
        private let loop: RunLoop
        private let left: Atomic<Int>
        private let before = Mutex<RunLoop.Statistics?>(nil)
        private let result = Mutex(0.0)
        private let isOver = DispatchSemaphore(value: 0)

        init(loop: RunLoop, length: Int) {
            self.loop = loop
            left = Atomic(length)
        }

        /// Runs on the loop, once a pass.
        func next() {
            let now = loop.statistics
            let start = before.withLock { before in
                if before == nil { before = now }
                return before ?? now
            }
            if left.subtract(1, ordering: .relaxed).newValue > 0 {
                loop.perform { self.next() }
                return
            }
            result.withLock {
                $0 = Double(now.kernelCalls - start.kernelCalls) / Double(now.passes - start.passes)
            }
            isOver.signal()
        }

        func wait() -> Double {
            isOver.wait()
            return result.withLock { $0 }
        }
    }
}

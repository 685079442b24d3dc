internal import CThreadControl

/// A thread of this process, as the kernel knows it.
typealias ThreadNumber = Int32

extension ThreadNumber {
    /// The calling thread.
    static var current: ThreadNumber { bench_thread() }

    /// Lets this thread run on these processors only; what it starts later inherits that.
    func pin(to processors: [Int32]) {
        // A thread may have ended since it was seen, as a thread pool's do. Then there is nothing to pin.
        _ = bench_pin(self, processors, Int32(processors.count))
    }
}

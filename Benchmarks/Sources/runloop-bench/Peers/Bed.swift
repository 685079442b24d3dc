internal import CYardsticks

/// A thread's place to sleep: one eventfd in one epoll, for as long as the program runs.
final class Bed: Sendable {
    private let bed: bench_bed

    init() {
        var bed = bench_bed()
        guard bench_bed_open(&bed) else { fatalError("Bed.init: the kernel gave no eventfd or epoll") }
        self.bed = bed
    }

    deinit {
        var bed = bed
        bench_bed_close(&bed)
    }

    /// Ends one sleep, the current or the next.
    func wake() {
        withUnsafePointer(to: bed) { bench_bed_wake($0) }
    }

    /// Sleeps until woken since the last sleep.
    func sleep() {
        withUnsafePointer(to: bed) { bench_bed_sleep($0) }
    }
}

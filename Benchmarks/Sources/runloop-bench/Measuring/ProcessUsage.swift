internal import CAllocationCounter
internal import CThreadControl
internal import Foundation

/// The resources that the whole process used during a measurement.
///
/// The threads of a pool cannot be measured separately. All threads other than the two measured threads sleep during a measurement.
struct ProcessUsage {
    /// The processor time, in seconds.
    var seconds = 0.0
    /// The number of times that a thread left its processor, voluntarily or not.
    var contextSwitches = 0
    /// The kernel's count of calls of `write` and its variants, or `nil` if the kernel does not report the count.
    var writes: Int?
    /// The wall-clock time, in seconds.
    var elapsed = 0.0

    /// Runs `body`, and returns the resources that it used.
    static func of(_ body: () throws -> Void) rethrows -> ProcessUsage {
        let writes = writeCalls()
        let before = bench_usage_now()
        let start = bench_now()
        try body()
        let end = bench_now()
        let after = bench_usage_now()
        var usage = ProcessUsage()
        usage.seconds = after.seconds - before.seconds
        usage.contextSwitches = Int(
            after.voluntary_switches + after.involuntary_switches
                - before.voluntary_switches - before.involuntary_switches)
        usage.elapsed = Double(end - start) / 1e9
        if let writes, let now = writeCalls() { usage.writes = now - writes }
        return usage
    }

    /// Adds the resources that another measurement used.
    static func += (sum: inout ProcessUsage, other: ProcessUsage) {
        sum.seconds += other.seconds
        sum.contextSwitches += other.contextSwitches
        sum.elapsed += other.elapsed
        if let writes = other.writes { sum.writes = (sum.writes ?? 0) + writes }
    }

    private static func writeCalls() -> Int? {
        guard let data = FileManager.default.contents(atPath: "/proc/self/io") else { return nil }
        let line = String(decoding: data, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("syscw:") }
        return line.flatMap { Int($0.dropFirst(6).trimmingCharacters(in: .whitespaces)) }
    }
}

/// Counts the allocations of all threads, starting at its creation.
struct AllocationCount: ~Copyable {
    private let before = bench_allocations()

    init() { bench_allocations_count(true) }

    /// Stops counting, and returns the number of allocations.
    consuming func stop() -> Int {
        bench_allocations_count(false)
        return Int(bench_allocations() - before)
    }
}

/// The maximum number of descriptors of this process.
enum DescriptorLimit {
    /// Raises the limit to the highest value that the process is allowed to set.
    ///
    /// - Returns: The new limit.
    static func raise() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of open descriptors, including the descriptor that counting opens.
    static var open: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    /// True if `count` more descriptors fit, with a reserve for descriptors that libraries open.
    static func allows(_ count: Int) -> Bool { open + count + 64 <= raise() }

    /// The note of a row for which the limit is too low.
    static var note: String { "this process may have \(raise()) descriptors: see ulimit -n" }
}

internal import CThreadControl
internal import Foundation

/// The resources that the whole process used during a measurement.
///
/// The process and not the two threads that are measured: every other thread sleeps meanwhile, and a
/// thread pool's threads could not be asked.
struct Usage {
    /// Processor time.
    var seconds = 0.0
    /// The number of times a thread left its processor, voluntarily or not.
    var contextSwitches = 0
    /// The number of calls of `write` and its variants, as the kernel counts them; `nil` if the kernel does not tell.
    var writes: Int?
    /// Wall-clock time.
    var elapsed = 0.0

    /// Runs `body` and says what that used.
    static func of(_ body: () throws -> Void) rethrows -> Usage {
        let writes = writeCalls()
        let before = bench_usage_now()
        let start = bench_now()
        try body()
        let end = bench_now()
        let after = bench_usage_now()
        var usage = Usage()
        usage.seconds = after.seconds - before.seconds
        usage.contextSwitches = Int(
            after.voluntary_switches + after.involuntary_switches
                - before.voluntary_switches - before.involuntary_switches)
        usage.elapsed = Double(end - start) / 1e9
        if let writes, let now = writeCalls() { usage.writes = now - writes }
        return usage
    }

    /// Adds what another measurement used.
    static func += (sum: inout Usage, other: Usage) {
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

/// How many descriptors this process may have.
enum DescriptorLimit {
    /// Raises the limit as far as the system allows without further rights.
    ///
    /// - Returns: The limit.
    static func raise() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of open descriptors, always with the one that counting them takes.
    static var open: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    /// True if this many more fit, with some to spare for those that libraries open.
    static func allows(_ count: Int) -> Bool { open + count + 64 <= raise() }
}

internal import Foundation

/// How many descriptors this process may have.
enum DescriptorRoom {
    /// Takes as many as the system lets it have without asking.
    ///
    /// - Returns: How many.
    static func raise() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// How many are open.
    static var open: Int {
        // One is the directory's own, each time.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    /// Whether as many more fit, with some to spare for what libraries open.
    static func has(_ count: Int) -> Bool { open + count + 64 <= raise() }
}

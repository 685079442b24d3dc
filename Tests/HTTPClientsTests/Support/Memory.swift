import Glibc

/// The memory of this process.
enum Memory {
    /// The largest number of bytes that it had in memory so far.
    static func peak() -> Int {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss * 1_024
    }
}

import Glibc

/// The memory of this process.
enum Memory {
    /// The peak of the resident memory in bytes.
    static func peak() -> Int {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss * 1_024
    }
}

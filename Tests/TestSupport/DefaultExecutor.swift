internal import CAllocations

/// The jobs of Swift's default executor.
public enum DefaultExecutor {
    private static let isCounted = default_executor_count_jobs()

    /// The number of jobs that the process has enqueued on the default executor since the first use of this property.
    ///
    /// It is nil if the runtime does not let them be counted.
    public static var jobs: Int? { isCounted ? Int(default_executor_jobs()) : nil }
}

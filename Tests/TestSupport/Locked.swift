import Glibc

/// A value behind a lock.
///
/// The lock is a pthread mutex, and not the standard library's `Mutex`: the kernel itself writes to the memory of a `Mutex`, which
/// the thread sanitizer does not see. It is not `Guarded` of RunLoops either, which only that package sees, because tests of other
/// packages use these helpers, too.
///
/// `@unchecked Sendable`: the value is accessed under the lock only.
@safe
public final class Locked<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Makes a lock around a value.
    ///
    /// - Parameter value: The value.
    public init(_ value: Value) {
        // Safe, here and below: the memory of the mutex belongs to this object from `init` to `deinit`.
        unsafe mutex = .allocate(capacity: 1)
        _ = unsafe pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls a function with the value, while no other thread has access to it.
    ///
    /// - Parameter body: The function.
    /// - Returns: The result of the function.
    /// - Throws: The error of the function.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

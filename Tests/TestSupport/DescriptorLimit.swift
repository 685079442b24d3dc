internal import Glibc
internal import RunLoops

/// Limits how many descriptors this process may hold: for a process of a test's own.
///
/// - Parameter count: How many.
/// - Throws: `SystemError` if the system refuses.
public func limitDescriptors(to count: Int) throws {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    // Safe, both: the kernel reads and fills our own value.
    unsafe getrlimit(resource, &limit)
    limit.rlim_cur = rlim_t(count)
    if unsafe setrlimit(resource, &limit) != 0 { throw SystemError(call: "setrlimit", code: errno) }
}

internal import Dispatch
internal import Glibc
internal import RunLoops

/// Limits how many descriptors this process may hold: for a process of a test's own.
///
/// - Parameter count: The number of them; the kernel gives out no descriptor from this number on.
/// - Throws: `SystemError` if the system refuses.
public func limitDescriptors(to count: Int) throws {
    try warmUpRuntime()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    // Safe, both: the kernel reads and fills our own value.
    unsafe getrlimit(resource, &limit)
    limit.rlim_cur = rlim_t(count)
    if unsafe setrlimit(resource, &limit) != 0 { throw SystemError(call: "setrlimit", code: errno) }
}

/// Has the runtime under the tests open its own descriptors now.
///
/// It does so late, for its first timer. Then it does not survive it if there is none, and may be given the number of one that
/// a test has closed.
///
/// - Throws: If it does not come to it.
public func warmUpRuntime() throws { if !isRuntimeWarm { throw TestHangs() } }

private let isRuntimeWarm: Bool = {
    let gate = Gate()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { gate.open() }
    return gate.wait()
}()

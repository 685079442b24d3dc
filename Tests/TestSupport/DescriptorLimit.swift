internal import Dispatch
internal import Glibc
internal import RunLoops

/// Limits the descriptors of this process, which must be a process of a test's own.
///
/// - Parameter count: The lowest number that the kernel no longer assigns to a descriptor.
/// - Throws: `SystemError` if the system refuses the limit.
public func limitDescriptors(to count: Int) throws {
    try warmUpRuntime()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    // Safe, both: the kernel reads and fills a local variable.
    unsafe getrlimit(resource, &limit)
    limit.rlim_cur = rlim_t(count)
    if unsafe setrlimit(resource, &limit) != 0 { throw SystemError(call: "setrlimit", code: errno) }
}

/// Makes the runtime under the tests open its own descriptors now.
///
/// Otherwise it opens them late, for its first timer. It would fail if no descriptor were left, and could get the number of a
/// descriptor that a test has closed.
///
/// - Throws: ``TestHangs`` if the runtime does not open them.
public func warmUpRuntime() throws { if !isRuntimeWarm { throw TestHangs() } }

private let isRuntimeWarm: Bool = {
    let gate = Gate()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { gate.open() }
    return gate.wait()
}()

internal import CLibEvent
internal import CRunLoops
internal import Glibc

/// Starts threads that no other thread joins.
package enum DetachedThread {
    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: The name of the thread. The system keeps only the whole characters in the first 15 bytes.
    ///   - stackSize: The size of the thread's stack in bytes, rounded up to whole pages; nil for the system's default.
    ///   - blocksSignals: True if the thread blocks all signals. Then only the program's own threads receive them.
    ///   - main: The function that the thread runs.
    /// - Throws: `SystemError` if the system refuses the stack size or the thread.
    package static func start(
        name: String, stackSize: Int? = nil, blocksSignals: Bool = false,
        _ main: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        var attributes = pthread_attr_t()
        // Safe, for this call and the next calls: the attributes are a local value that is initialized before its use.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        if let stackSize {
            let page = sysconf(CInt(_SC_PAGESIZE))
            let (padded, isTooLarge) = stackSize.addingReportingOverflow(page - 1)
            let code =
                isTooLarge ? EINVAL : unsafe pthread_attr_setstacksize(&attributes, padded / page * page)
            if code != 0 { throw SystemError(call: "pthread_attr_setstacksize", code: code) }
        }
        // Safe: the new thread takes over the reference. If no thread was started, this function releases the reference.
        let argument = unsafe Unmanaged.passRetained(Main(systemName(name), main))
        var thread = pthread_t()
        let code =
            if blocksSignals {
                withSignalsBlocked {
                    unsafe pthread_create(&thread, &attributes, threadMain, argument.toOpaque())
                }
            } else {
                unsafe pthread_create(&thread, &attributes, threadMain, argument.toOpaque())
            }
        if code != 0 {
            unsafe argument.release()
            throw SystemError(call: "pthread_create", code: code)
        }
    }

    /// Calls `body`, and blocks all signals on the calling thread during the call.
    ///
    /// A thread that `body` starts inherits the calling thread's signal mask, and so blocks all signals, too.
    private static func withSignalsBlocked(_ body: () -> CInt) -> CInt {
        var all = sigset_t()
        var before = sigset_t()
        // Safe: the sets are local values.
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }

    /// Shortens a name to the length that the system accepts: at most 15 bytes, in whole characters.
    static func systemName(_ name: String) -> String {
        var kept = ""
        for character in name {
            if kept.utf8.count + String(character).utf8.count > 15 { break }
            kept.append(character)
        }
        return kept
    }

    /// The work of a new thread: the thread first gives itself its name, and then calls the function.
    fileprivate final class Main: Sendable {
        private let name: String
        private let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            // An error is ignored, because a thread can do without its name.
            _ = unsafe runloops_name_thread(name)
            body()
        }
    }
}

/// The entry function of every thread that the package starts.
///
/// This is a function and not a closure. A closure in code that is isolated to an actor would be isolated to that actor, too, and
/// Swift would check this isolation on the new thread.
private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: this takes over the reference of `start`.
    unsafe Unmanaged<DetachedThread.Main>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

internal import CThreads
internal import Glibc

/// The start of one thread with a loop, for which the starting thread waits.
final class ThreadStart: Sendable {
    private let name: String
    private let processors: Set<Int>?
    private let priority: RunLoopThread.Priority?
    private let body: (@Sendable (RunLoop) -> Void)?

    /// Opened when the loop runs, or has failed to.
    private let ready = ThreadGate()
    private let outcome = Guarded<Result<RunLoop, SystemError>?>(nil)

    /// The new thread's driver, if the starting one is driven.
    private let driver: ThreadDriver?

    /// Given when the loop has ended.
    let ended = EndNotice()

    /// Prepares the start.
    ///
    /// - Parameters:
    ///   - name: The name of the thread and of its loop.
    ///   - processors: The processors that it may use; nil for those of the starting thread.
    ///   - priority: The way in which it is scheduled; nil for that of the starting thread.
    ///   - servesProcess: True if it is the process's: then it is not driven, whichever thread starts it.
    ///   - body: The thread's work with its loop; nil to run the loop until a request ends it.
    init(
        name: String, processors: Set<Int>?, priority: RunLoopThread.Priority?, servesProcess: Bool,
        body: (@Sendable (RunLoop) -> Void)?
    ) {
        self.name = name
        self.processors = processors
        self.priority = priority
        self.body = body
        driver = servesProcess ? nil : ThreadDriver.current?.makeThread(name)
    }

    /// Starts the thread, and waits for its loop.
    func start(stackSize: Int?) throws(SystemError) -> RunLoop {
        Fork.check("RunLoopThread.init")
        var attributes = pthread_attr_t()
        // Safe, this and the next calls: the attributes are our own, set up before they are used.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        if let stackSize {
            let page = sysconf(CInt(_SC_PAGESIZE))
            let (padded, isTooLarge) = stackSize.addingReportingOverflow(page - 1)
            let code =
                isTooLarge ? EINVAL : unsafe pthread_attr_setstacksize(&attributes, padded / page * page)
            if code != 0 {
                driver?.threadEnds()
                throw SystemError(call: "pthread_attr_setstacksize", code: code)
            }
        }
        var thread = pthread_t()
        // Safe: the new thread takes the reference back, or we do if there is no thread.
        let argument = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(&thread, &attributes, threadMain, argument.toOpaque())
        if code != 0 {
            driver?.threadEnds()
            unsafe argument.release()
            throw SystemError(call: "pthread_create", code: code)
        }
        ready.wait()
        // Taken out: this lives as long as the thread, and is not to keep the loop.
        let taken = outcome.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
        guard let result = taken else {
            preconditionFailure("the thread says how it went before it opens the gate")
        }
        return try result.get()
    }

    /// The work of the new thread.
    fileprivate func run() {
        driver?.begin()
        do {
            let loop = try prepare()
            // Given at the thread's end, also if a handler ends it: a thread that has joined finds the loop's descriptors
            // closed, and its slabs released.
            loop.core("RunLoopThread", "").ending.notice = ended
            driver?.loopBegins()
            runLoop(loop)
        } catch {
            answer(.failure(error))
        }
        ThreadEnd.run()
    }

    private func prepare() throws(SystemError) -> RunLoop {
        // A name that the system refuses is not worth failing for, and 15 bytes are always accepted.
        _ = unsafe runloops_name_thread(ThreadStart.systemName(name))
        if let processors {
            let code = unsafe runloops_use_processors(
                processors.map { CInt(clamping: $0) }, CInt(processors.count))
            if code != 0 { throw SystemError(call: "pthread_setaffinity_np", code: code) }
        }
        try priority?.apply()
        let loop = try RunLoop.makeCurrent()
        loop.name = name
        return loop
    }

    private func runLoop(_ loop: RunLoop) {
        if let body {
            answer(.success(loop))
            return body(loop)
        }
        let core = loop.core("RunLoopThread", "")
        // The thread's own stake in its loop, so that it runs without inputs.
        core.members.keepAlive(.default)
        loop.perform { self.answer(.success(loop)) }
        repeat {
            loop.run(in: .default)
        } while !core.runs.requests.contains(.end)
    }

    private func answer(_ result: Result<RunLoop, SystemError>) {
        outcome.withLock { $0 = result }
        ready.open()
    }

    /// The longest beginning of a name that the system takes: 15 bytes, whole characters.
    static func systemName(_ name: String) -> String {
        var kept = ""
        for character in name {
            if kept.utf8.count + String(character).utf8.count > 15 { break }
            kept.append(character)
        }
        return kept
    }
}

/// The entry of every thread that is started here.
///
/// A function of its own: a closure written in code that is isolated to an actor would be checked for
/// that actor on the new thread.
private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: takes back the reference of `start`.
    unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

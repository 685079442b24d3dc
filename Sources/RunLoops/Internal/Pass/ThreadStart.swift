internal import CRunLoops
internal import Glibc

/// The start of one thread with a loop.
///
/// The starting thread gets the outcome of the start from this object.
final class ThreadStart: Sendable {
    private let name: String
    private let processors: Set<Int>?
    private let priority: RunLoopThread.Priority?
    private let body: (@Sendable (RunLoop) -> Void)?

    /// The new thread's loop, or the error with which the start has failed.
    private let outcome = OneShot<Result<RunLoop, SystemError>>()

    /// The driver that simulates time for the new thread; nil if the thread is not simulated.
    private let driver: ThreadDriver?

    /// The notice that the thread has ended; other threads and tasks can wait for the notice.
    ///
    /// The notice is posted after the loop has ended and the memory for the thread's messages (``SlabCache``) was released.
    let ended = EndNotice()

    /// Prepares the start of a thread.
    ///
    /// - Parameters:
    ///   - name: The name of the thread and its loop.
    ///   - processors: The processors that the thread is allowed to use; nil for the processors of the starting thread.
    ///   - priority: The scheduling of the thread; nil for the scheduling of the starting thread.
    ///   - servesProcess: True if the thread serves the whole process. Such a thread is never simulated: it has no driver, even if
    ///     the starting thread has one.
    ///   - body: Called on the thread with its loop; nil to run the loop until it is asked to end.
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

    /// Starts the thread, waits until its loop exists, and returns the loop.
    func start(stackSize: Int?) throws(SystemError) -> RunLoop {
        Fork.check("RunLoopThread.init")
        do throws(SystemError) {
            if let stackSize, stackSize < ThreadStart.leastStackSize {
                throw SystemError(call: "pthread_attr_setstacksize", code: EINVAL)
            }
            try DetachedThread.start(name: name, stackSize: stackSize) { self.run() }
        } catch {
            driver?.threadEnds()
            throw error.about(description(stackSize))
        }
        outcome.wait()
        // The loop is removed from this object, which exists as long as the thread and must not keep the loop alive.
        do throws(SystemError) { return try outcome.take().get() } catch {
            throw error.about(description(stackSize))
        }
    }

    /// The least size of a stack, in bytes.
    ///
    /// The system accepts 16 KiB, but a thread that runs Swift code overflows a stack below 32 KiB before it has a loop.
    private static let leastStackSize = 65_536

    /// The thread, and what was asked for it, for an error.
    private func description(_ stackSize: Int?) -> String {
        var text = "thread \"\(name)\""
        if let stackSize {
            text += " with a stack of \(stackSize) bytes"
            if stackSize < ThreadStart.leastStackSize {
                text += ", of at least \(ThreadStart.leastStackSize)"
            }
        }
        if let processors {
            let numbers = processors.sorted().map { "\($0)" }.joined(separator: ", ")
            text += " on the processors [\(numbers)]"
        }
        return text
    }

    /// The work of the new thread, from its beginning to its end.
    private func run() {
        driver?.begin()
        do {
            let loop = try prepare()
            // The notice is posted at the end of the thread, even if a handler ends the thread. After a join of this thread, the
            // descriptors of the loop are closed and the slabs are released.
            loop.core("RunLoopThread", "").ending.notice = ended
            driver?.loopBegins()
            runLoop(loop)
        } catch {
            outcome.decide(.failure(error))
        }
        ThreadEnd.run()
    }

    private func prepare() throws(SystemError) -> RunLoop {
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
            outcome.decide(.success(loop))
            return body(loop)
        }
        let core = loop.core("RunLoopThread", "")
        // The default mode is kept alive, so that the loop runs without any input.
        core.members.keepAlive(.default)
        loop.perform { self.outcome.decide(.success(loop)) }
        repeat {
            loop.run(in: .default)
        } while !core.runs.requests.contains(.end)
    }
}

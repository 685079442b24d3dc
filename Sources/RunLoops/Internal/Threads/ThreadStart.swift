internal import CThreads
internal import Glibc

/// Starts one thread with a loop, and tells whoever started it how that went.
final class ThreadStart: Sendable {
    private let name: String
    private let processors: Set<Int>?
    private let priority: RunLoopThread.Priority?
    private let body: (@Sendable (RunLoop) -> Void)?

    /// The loop, once it runs, or the reason why the thread has none.
    private let outcome = OneShot<Result<RunLoop, SystemError>>()

    /// The new thread's driver, if the starting one is driven.
    private let driver: ThreadDriver?

    /// Given when the loop has ended.
    let ended = EndNotice()

    /// What to start.
    ///
    /// - Parameters:
    ///   - name: What the thread and its loop are called.
    ///   - processors: The processors that it may use; nil for those of the starting thread.
    ///   - priority: How it is scheduled; nil for as the starting thread.
    ///   - servesProcess: Whether it is the process's: then it is not driven, whoever starts it.
    ///   - body: What the thread does with its loop; nil to run it until it is told to end.
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
        do {
            try DetachedThread.start(name: name, stackSize: stackSize) { self.run() }
        } catch {
            driver?.threadEnds()
            throw error
        }
        outcome.wait()
        // Taken out: this object lives as long as the thread, and must not keep the loop.
        return try outcome.take().get()
    }

    /// What the new thread does.
    private func run() {
        driver?.begin()
        do {
            let loop = try prepare()
            // Given at the thread's end, also if a handler ends it: who has joined finds the loop's descriptors closed,
            // and its slabs gone.
            loop.core("RunLoopThread", "").endNotice = ended
            driver?.loopBegins(loop)
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
        // The thread's own stake in its loop, so that it runs without inputs.
        core.modes.countInput(in: .default, by: 1)
        loop.perform { self.outcome.decide(.success(loop)) }
        repeat {
            loop.run(in: .default)
        } while !core.requests.contains(.end)
    }
}

import Glibc
import RunLoops
import ServerSupport
import Subprocess

/// Runs shell commands on a loop, and leaves none of their processes behind.
///
/// Each command runs in a session of its own, and so in a process group of its own. When the time or the output of a command is over
/// its limit, or the runner stops, the group gets `SIGTERM`, and `SIGKILL` if the command has not ended after a while. What is left of
/// the group when the command has ended gets `SIGKILL`.
actor Runner: RunLoopActor {
    /// The limits of each command.
    struct Limits {
        var time: Duration
        /// The limit on the output, in bytes.
        var output: Int
        /// The time between `SIGTERM` and `SIGKILL`.
        var grace: Duration
    }

    /// A command that has not ended.
    private struct Job {
        let task: Task<Void, Never>
        var processID: pid_t?
        /// Why the command is ended early; nil if it is not.
        var reason: String?
    }

    private struct TooMuchOutput: Error {}

    nonisolated let runLoop: RunLoop
    private let limits: Limits
    private var jobs: [Int: Job] = [:]
    private var started = 0
    private(set) var failed = 0
    private var isStopping = false
    private let stopsWhenIdle: Bool

    init(on runLoop: RunLoop, limits: Limits, stopsWhenIdle: Bool) {
        self.runLoop = runLoop
        self.limits = limits
        self.stopsWhenIdle = stopsWhenIdle
    }

    /// Starts a command, which gets no input.
    func start(_ command: String) {
        if isStopping { return }
        started += 1
        let number = started
        jobs[number] = Job(
            task: Task {
                await run(command, number)
                end(number)
            })
    }

    /// Ends all commands, and then the run of the loop.
    func stop() {
        isStopping = true
        for number in jobs.keys { cancel(number, "stopped") }
        stopIfIdle()
    }

    /// Ends all commands at once.
    func killAll() {
        for job in jobs.values { if let processID = job.processID { kill(-processID, SIGKILL) } }
    }

    private func cancel(_ number: Int, _ reason: String) {
        if jobs[number]?.reason == nil { jobs[number]?.reason = reason }
        // The library performs the steps of `teardownSequence`.
        jobs[number]?.task.cancel()
    }

    private func end(_ number: Int) {
        jobs[number] = nil
        stopIfIdle()
    }

    private func stopIfIdle() {
        if jobs.isEmpty && (isStopping || stopsWhenIdle) { runLoop.stop() }
    }

    // MARK: - One command

    private func run(_ command: String, _ number: Int) async {
        let timer = Timer(timeInterval: limits.time, repeats: false) { _ in self.cancel(number, "timed out") }
        runLoop.add(timer, forMode: .common)
        defer { timer.invalidate() }
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: limits.grace)
        ]
        let steps = options.teardownSequence
        var ending: String
        do {
            let result = try await Subprocess.run(
                .name("sh"), arguments: ["-c", command], platformOptions: options, input: .none,
                output: .sequence, error: .combinedWithOutput
            ) { execution in
                let process = execution.processIdentifier
                self.jobs[number]?.processID = process.value
                var output = Output(limit: self.limits.output)
                do {
                    for try await piece in execution.standardOutput {
                        for line in output.lines(with: Array(piece.bytes)) {
                            announce("[\(number)] \(line)")
                        }
                        if output.isOverLimit { throw TooMuchOutput() }
                    }
                } catch  where Task.isCancelled {
                    // The library ends the command.
                } catch {
                    self.jobs[number]?.reason = error is TooMuchOutput ? "too much output" : "\(error)"
                    await execution.teardown(using: steps)
                }
                if let rest = output.rest { announce("[\(number)] \(rest)") }
                try await self.ended(process)
                // The library reaps the command only after this closure, so the number of the group is still its own.
                try? execution.send(signal: .kill, toProcessGroup: true)
                self.jobs[number]?.processID = nil
            }
            ending = "\(result.terminationStatus)"
        } catch {
            ending = "\(error)"
        }
        if let reason = jobs[number]?.reason { ending = reason }
        if ending != "exited(0)" { failed += 1 }
        announce("[\(number)] ended: \(ending)")
    }

    /// Waits until a process has ended; its status remains for the library.
    private func ended(_ process: ProcessIdentifier) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let source = DescriptorSource(process.processDescriptor, interest: .read) { source, _ in
                source.invalidate()
                continuation.resume()
            }
            do { try runLoop.add(source, forMode: .common) } catch { continuation.resume(throwing: error) }
        }
    }
}

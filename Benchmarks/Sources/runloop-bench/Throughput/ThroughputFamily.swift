internal import ArgumentParser

/// Measures throughput: one, two, four and eight producers send to one consumer that does next to nothing with each message.
///
/// Read "÷ list" of "RunLoops port, unlimited" with one producer first. Subjects take turns in short rounds of one process, and
/// each is compared with the list in the same round with the same number of producers.
struct ThroughputFamily: Family {
    static let name = "throughput"
    static let summary =
        "Messages a second from producers to one consumer; counts of system calls and allocations."

    @Option(help: "The most messages under way at once: 0 for no limit, else at least 1024.")
    var window = 4096

    func validate() throws {
        // A producer counts a chunk of messages as sent before it sends the chunk. With a smaller window, all producers would then
        // wait, and none would send.
        if window != 0 && window < 1024 { throw ValidationError("--window must be 0 or at least 1024") }
    }

    func measure(in session: Session) throws -> Chapter {
        var chapter = Chapter(name: Self.name)
        let runner = ThroughputRunner(window: window)
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        let subjects = try ThroughputSubject.allCases.map { ($0, try $0.make(sink: runner.sink)) }
        var result = ThroughputResult()
        var measured = ""
        session.progress.begin("throughput")
        do {
            for round in -1..<session.rounds {
                session.progress.step(max(0, round), of: session.rounds)
                for producers in ThroughputResult.producerCounts {
                    for (subject, channel) in subjects.turns(of: round) {
                        measured = "\(subject.rawValue), producers: \(producers)"
                        runner.place(channel, on: session.machine)
                        let writes = channel.kernelWrites
                        let found = try runner.round(
                            channel, producers: producers,
                            length: session.length(.milliseconds(20), quick: .milliseconds(8)))
                        // The first round is the warm-up: allocators and caches grow to their final size.
                        if round < 0 { continue }
                        result.add(
                            found, of: subject, producers: producers,
                            kernelWrites: writes.flatMap { before in channel.kernelWrites.map { $0 - before }
                            })
                    }
                }
            }
            session.progress.begin("counts")
            measured = "counts"
            let counts = try ThroughputCounts(subjects: subjects, runner: runner, session: session)
            chapter.tables = result.tables + [counts.table]
            chapter.targets = result.targets + counts.targets
            chapter.comparisons = result.comparisons
            chapter.failures = counts.failures
        } catch let failure as ThroughputRunner.Failure {
            chapter.failures.append("throughput, \(measured): \(failure)")
        }
        chapter.charts = [result.chart]
        chapter.remarks = remarks(on: session.machine) + subjects.compactMap(\.1.remark)
        return chapter
    }

    private func remarks(on machine: Machine) -> [String] {
        let others = machine.processors.dropFirst().map(String.init).joined(separator: ", ")
        let window = window == 0 ? "without limit" : "at most \(window)"
        return [
            machine.processors.count > 1
                ? "The consumer is pinned to CPU \(machine.processors[0]), producers to CPU \(others) in turn."
                : "The consumer and the producers share the only CPU.",
            "Messages under way: \(window), for all subjects. All messages are counted and their values added up.",
            "÷ list compares the same round: the median of the rounds, and the range of half of them. Writes are the write "
                + "calls of the whole process for each message. Own are the wake-ups of our senders by our own count.",
            "RunLoops without \"park\" use the default wait policy (adaptive).",
            "Foundation: each perform is followed by CFRunLoopWakeUp, from `import CoreFoundation`.",
        ]
    }
}

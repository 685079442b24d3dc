internal import ArgumentParser

/// Isolates hops of tasks: calls of an actor's method that does next to nothing.
///
/// Read "÷ SwiftNIO" and the mallocs of two actors of one executor first. Subjects take turns in short rounds of one process,
/// and each is compared with SwiftNIO's executor in the same round.
struct ExecutorsFamily: Family {
    static let name = "executors"
    static let summary = "The cost for a task to get to an actor on a loop, and back."

    func measure(in session: Session) throws -> Chapter {
        var chapter = Chapter(name: Self.name)
        ThreadNumber.current.pin(to: session.machine.processors)
        session.progress.begin("executors")
        let executors = try HopExecutors()
        var hops = Hops()
        for (index, path) in HopPath.allCases.enumerated() {
            let workloads = executors.workloads(path)
            executors.place(for: path, on: session.machine)
            for round in -1..<session.rounds {
                session.progress.step(
                    max(0, round) + index * session.rounds, of: HopPath.allCases.count * session.rounds)
                for workload in workloads.turns(of: round) {
                    do throws(Miscount) {
                        try measure(workload, round: round, on: executors, in: session, &hops)
                    } catch {
                        chapter.failures.append(
                            "executors, \(path.rawValue), \(workload.key.subject.rawValue): \(error)")
                        return chapter
                    }
                }
            }
        }
        chapter.remarks = Hops.remarks
        chapter.tables = hops.tables
        chapter.charts = hops.charts
        chapter.targets = hops.targets
        return chapter
    }

    private func measure(
        _ workload: HopWorkload, round: Int, on executors: HopExecutors, in session: Session,
        _ hops: inout Hops
    ) throws(Miscount) {
        let length = session.length(.milliseconds(12), quick: .milliseconds(5))
        let processors = session.machine.processors
        let outcome = waitForTask(preferring: executors.preference(workload.key.path)) {
            () async -> Result<Double, Miscount> in
            if workload.key.path == .pool { await Hops.freeDefaultThreads(processors) }
            // The first round warms up, and counts the allocations, which takes only one round.
            if round < 0 { return await Hops.allocations(of: workload) }
            return await Hops.time(of: workload, length: length)
        }
        let figure = try outcome.get()
        if round < 0 {
            hops.add(allocations: figure, of: workload.key)
        } else {
            hops.add(time: figure, of: workload.key)
        }
    }
}

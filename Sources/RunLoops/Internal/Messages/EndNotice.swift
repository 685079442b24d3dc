/// The end of a thread, for those who wait for it: threads at the gate, and tasks in a list.
final class EndNotice: Sendable {
    /// Open when the end has come.
    let gate = ThreadGate()

    private let tasks = Guarded(Tasks())

    private struct Tasks {
        var hasEnded = false
        var waiting: [ObjectIdentifier: AwaitedBlock<Void>] = [:]
    }

    /// Lets through whoever waits, and whoever will.
    func give() {
        let waiting = tasks.withLock { tasks in
            tasks.hasEnded = true
            defer { tasks.waiting = [:] }
            return tasks.waiting
        }
        // After it is said to tasks: who has passed the gate may ask as one of them.
        gate.open()
        for wait in waiting.values { wait.run {} }
    }

    /// Has a task let through at the end, which may be at once.
    func add(_ wait: AwaitedBlock<Void>) {
        let hasEnded = tasks.withLock { tasks in
            if !tasks.hasEnded { tasks.waiting[ObjectIdentifier(wait)] = wait }
            return tasks.hasEnded
        }
        if hasEnded { wait.run {} }
    }

    /// A task waits no more.
    func remove(_ wait: AwaitedBlock<Void>) {
        tasks.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(wait)) }
    }

    /// How many tasks wait.
    var taskCount: Int { tasks.withLock { $0.waiting.count } }
}

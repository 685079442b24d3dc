internal import ArgumentParser

/// Measures notifications: synchronous posts, posts from several threads, posts to the loop of another thread, and queues.
///
/// Subjects take turns in short rounds of one process, and each is compared with Foundation in the same round.
struct NotificationsFamily: Family {
    static let name = "notifications"
    static let summary = "Posting, redirecting and coalescing notifications."

    @Option(
        help:
            "The most redirected notifications under way at once: 0 for no limit, else at least 1024.")
    var window = 4096

    func validate() throws {
        // The throughput family, whose producers are used here, has the same limit.
        if window != 0 && window < 1024 { throw ValidationError("--window must be 0 or at least 1024") }
    }

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        let parts: [any Measurement] = [
            Posting(), Enqueueing(in: session), ParallelPosting(), try Redirecting(window: window),
        ]
        return Chapter(Self.name, parts, in: session)
    }
}

/// Measures timers: the cost of a timer while many others wait, and the lateness of a timer on an idle machine.
struct TimersFamily: Family {
    static let name = "timers"
    static let summary = "The cost of a timer among many, and the lateness of timers."

    func measure(in session: Session) throws -> Chapter {
        Chapter(Self.name, [TimerChanges(in: session), try TimerLateness()], in: session)
    }
}

/// Measures fairness: a loop that always has messages to handle, and a loop that shares its processors with other processes.
struct FairnessFamily: Family {
    static let name = "fairness"
    static let summary =
        "Timers and descriptors of a loop that is never out of messages, or that shares its processors."

    func measure(in session: Session) throws -> Chapter {
        Chapter(Self.name, [try Fairness(), try GreedyInputs(), try SharedProcessors()], in: session)
    }
}

/// Measures the cost of an idle loop, and the growth of costs with the number of loops, descriptors, modes and observers.
struct ScaleFamily: Family {
    static let name = "scale"
    static let summary = "The resources of a loop, and the cost of a pass, hop, wait or observer among many."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(
            Self.name,
            [LoopFootprint(), IdleDescriptors(), TokenRing(), PrivateModes(), try OneShotObservers()],
            in: session)
    }
}

/// Measures the costs of ports: sending, receiving with and without a loop, and requests.
struct PortsFamily: Family {
    static let name = "ports"
    static let summary = "Requests, and messages to loops, to port sets and between processes."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(Self.name, [try RoundTrips(), try PortStreams(), try Packets()], in: session)
    }
}

/// Measures the flight recorder: its cost for each message, and the disturbance of a snapshot.
struct RecordingFamily: Family {
    static let name = "recording"
    static let summary = "Messages with and without a flight recorder, and while its events are read."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(Self.name, [try RecordingCosts(), try SnapshotDisturbance()], in: session)
    }
}

/// Measures servers that answer PING over TCP, on this package's connections and on others, idle connections, and datagrams.
struct NetworkingFamily: Family {
    static let name = "networking"
    static let summary = "The cost of a request to a server, of idle connections, and of a datagram."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(
            Self.name, [try Requests(), ConnectionModes(), try ConnectionFootprint(), Datagrams()],
            in: session)
    }
}

/// Measures TLS on connections, and the HTTP client and server.
struct WebFamily: Family {
    static let name = "web"
    static let summary =
        "TLS hand-shakes and bytes, and the cost of a request for the HTTP client and server."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(
            Self.name,
            [SecureStreams(), try HTTPRequests(), HTTPServing(), HandlerServing(), SocketEchoes()],
            in: session)
    }
}

/// Measures notifications between processes, through a hub and through a Redis server.
struct DistributedFamily: Family {
    static let name = "distributed"
    static let summary = "Notifications between processes, through a hub or a Redis server."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(Self.name, [DistributedPosts(), RedisPosts()], in: session)
    }
}

/// Measures hops of tasks: calls of an actor's method that does next to nothing.
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
            // The first round is the warm-up. It also counts the allocations, for which one round is enough.
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

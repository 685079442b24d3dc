internal import ArgumentParser

/// Isolates notifications: posted at once, from several threads, to a thread's loop, and left with a queue.
///
/// Each part says what to read first. Its subjects take turns in short rounds of one process, and each is
/// compared with Foundation in the same round.
struct NotificationsFamily: Family {
    static let name = "notifications"
    static let summary = "Posting, redirecting and coalescing notifications."

    @Option(
        help:
            "How many redirected notifications may be under way at once; 0 for no limit, else at least 1024.")
    var window = 4096

    func validate() throws {
        // As for the throughput family, whose producers these are.
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

/// Isolates timers: what each costs while many others wait, and how late one fires when nothing else is done.
///
/// Each part says what to read first. Its subjects take turns in short rounds of one process.
struct TimersFamily: Family {
    static let name = "timers"
    static let summary = "The cost of a timer among many, and how late timers fire."

    func measure(in session: Session) throws -> Chapter {
        Chapter(Self.name, [TimerChanges(in: session), try TimerLateness()], in: session)
    }
}

/// Isolates fairness: what a loop that is never out of messages does for its timer and its descriptor, and what a loop that
/// shares its processors with other processes does for its timer.
struct FairnessFamily: Family {
    static let name = "fairness"
    static let summary =
        "Timers and descriptors of a loop that is never out of messages, or shares its processors."

    func measure(in session: Session) throws -> Chapter {
        Chapter(Self.name, [try Fairness(), try SharedProcessors()], in: session)
    }
}

/// Isolates what a loop costs by being there, and whether anything gets dearer where there are many: loops, or descriptors,
/// modes and observers of one loop.
///
/// Each part says what to read first.
struct ScaleFamily: Family {
    static let name = "scale"
    static let summary = "What a loop takes, and what passes, hops, waits and observers cost among many."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(
            Self.name,
            [LoopFootprint(), IdleDescriptors(), TokenRing(), PrivateModes(), try OneShotObservers()],
            in: session)
    }
}

/// Isolates what ports cost: to send and to receive, with a loop and without one, and to ask and be answered.
///
/// Each part says what to read first.
struct PortsFamily: Family {
    static let name = "ports"
    static let summary = "Requests and their answers, messages to loops and port sets, and between processes."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(Self.name, [try RoundTrips(), try PortStreams(), try Packets()], in: session)
    }
}

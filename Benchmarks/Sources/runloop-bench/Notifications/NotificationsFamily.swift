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
        let parts: [any Part] = [
            Posting(), Enqueueing(in: session), ParallelPosting(), try Redirecting(window: window),
        ]
        return Chapter(Self.name, parts, in: session)
    }
}

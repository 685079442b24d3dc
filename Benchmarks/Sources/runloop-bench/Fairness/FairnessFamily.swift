internal import ArgumentParser

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

internal import ArgumentParser

/// Isolates fairness: what a loop that is never out of messages does for its timer and its descriptor.
struct FairnessFamily: Family {
    static let name = "fairness"
    static let summary = "Timers and descriptors of a loop that is never out of messages."

    func measure(in session: Session) throws -> Chapter {
        Chapter(Self.name, [try Fairness()], in: session)
    }
}

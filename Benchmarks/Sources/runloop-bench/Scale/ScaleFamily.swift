internal import ArgumentParser

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
            [LoopFootprint(), IdleDescriptors(), TokenRing(), PrivateModes(), try LeavingObservers()],
            in: session)
    }
}

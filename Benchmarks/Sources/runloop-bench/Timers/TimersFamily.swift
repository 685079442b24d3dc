internal import ArgumentParser

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

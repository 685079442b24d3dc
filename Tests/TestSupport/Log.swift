internal import RunLoops

/// A list of events, in order, from any thread.
public final class Log<Entry: Sendable>: Sendable {
    private let stored = Guarded<[Entry]>([])

    /// Makes an empty log.
    public init() {}

    /// Adds an entry.
    ///
    /// - Parameter entry: The event.
    public func add(_ entry: Entry) { stored.withLock { $0.append(entry) } }

    /// Forgets everything.
    public func removeAll() {
        // Outside the lock: an entry may be the last to hold something.
        let forgotten = stored.withLock { entries in
            defer { entries = [] }
            return entries
        }
        withExtendedLifetime(forgotten) {}
    }

    /// The events so far.
    public var entries: [Entry] { stored.withLock { $0 } }
}

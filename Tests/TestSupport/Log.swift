internal import RunLoops

/// A list of events, in order, to which any thread can add.
public final class Log<Entry: Sendable>: Sendable {
    private let stored = Locked<[Entry]>([])

    /// Makes an empty log.
    public init() {}

    /// Adds an entry.
    ///
    /// - Parameter entry: The event.
    public func add(_ entry: Entry) { stored.withLock { $0.append(entry) } }

    /// Removes all entries.
    public func removeAll() {
        // Released outside the lock, because an entry can hold the last reference to an object.
        let forgotten = stored.withLock { entries in
            defer { entries = [] }
            return entries
        }
        withExtendedLifetime(forgotten) {}
    }

    /// The events so far.
    public var entries: [Entry] { stored.withLock { $0 } }
}

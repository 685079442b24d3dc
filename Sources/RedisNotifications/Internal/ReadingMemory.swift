internal import DistributedNotifications

/// The progress of an engine's subscriptions in reading the stream, kept from one connection to the next.
///
/// A pure value.
struct ReadingMemory: Hashable, Sendable {
    /// The ID of the last entry that was read for the live subscriptions.
    var cursor = EntryID.zero
    /// The numbers of the subscriptions that have read all entries up to ``cursor``.
    private(set) var live: Set<UInt64> = []
    /// The subscriptions that have begun, each with a value of ``EndedPosters/count``.
    ///
    /// A key is the number of a subscription. The value is the count at the time when the subscription was last in ``live``.
    private(set) var begun: [UInt64: UInt64] = [:]
    /// The numbers of the subscriptions whose positions are from an earlier run of the server, and so may be invalid.
    private(set) var unsure: Set<UInt64> = []
    /// The numbers of the subscriptions that have missed entries, and have not read the stream to its end since then.
    private var incomplete: Set<UInt64> = []
    /// The posters whose ends were read from the stream.
    private(set) var ended = EndedPosters()

    /// Notes that the generation of the server's data has changed, so that the engine reads a different stream.
    mutating func beginGeneration() {
        stopLive()
        cursor = .zero
    }

    /// Notes that the server has started again, or that another server has taken over.
    ///
    /// The server can have lost the newest entries of the stream, and can give new entries lower IDs than the lost ones had.
    mutating func beginRun() {
        stopLive()
        unsure.formUnion(begun.keys)
    }

    private mutating func stopLive() {
        for number in live { begun[number] = ended.count }
        live = []
    }

    /// Notes that the server has removed entries that these subscriptions had not read.
    mutating func miss(_ numbers: [UInt64]) { incomplete.formUnion(numbers) }

    /// Returns true if at least one of the subscriptions has missed entries.
    func haveMissed(_ numbers: [UInt64]) -> Bool { !incomplete.isDisjoint(with: numbers) }

    /// Notes that subscriptions have read the stream to its end.
    mutating func finish(_ numbers: [UInt64]) {
        for number in numbers { begun[number] = ended.count }
        live.formUnion(numbers)
        unsure.subtract(numbers)
        incomplete.subtract(numbers)
    }

    /// Notes that an entry of the stream reports the end of a poster.
    mutating func note(endOf poster: PosterID, at id: EntryID) { ended.note(poster, at: id) }

    /// Forgets ended posters whose entries the stream no longer has.
    mutating func prune(before first: EntryID) { ended.prune(before: first) }

    /// Forgets subscriptions that were removed.
    mutating func remove(_ numbers: [UInt64]) {
        for number in numbers { begun[number] = nil }
        live.subtract(numbers)
        unsure.subtract(numbers)
        incomplete.subtract(numbers)
    }
}

internal import DistributedNotifications

/// The result of a step of handling a reply with entries.
enum ReplyStep<End> {
    /// Some items for the center, possibly none; there are more steps.
    case items([EngineBatch.Item])
    /// The reply is not what the server replies.
    case invalid
    case end(End)
}

/// Items for the center that are delivered in batches of a limited size.
///
/// A pure value.
private struct ItemQueue {
    private static let mostItems = 64

    private var items: ArraySlice<EngineBatch.Item> = []

    init(_ items: [EngineBatch.Item] = []) { self.items = items[...] }

    mutating func next() -> [EngineBatch.Item]? {
        if items.isEmpty { return nil }
        defer { items = items.dropFirst(ItemQueue.mostItems) }
        return Array(items.prefix(ItemQueue.mostItems))
    }
}

/// The entries of a reply, a few of which each step reads.
///
/// A pure value.
private struct EntrySteps {
    private enum State {
        case between
        case within(EntryReader)
        case broken
    }

    /// The numbers after which a step reads no further entry.
    private static let most = (entries: 16, items: 32)

    private var state = State.between
    private var values: RedisElements

    init(_ values: RedisElements) { self.values = values }

    /// Reads a few entries.
    ///
    /// - Parameter items: Returns the items of an entry.
    /// - Returns: The items of the entries.
    mutating func step(_ items: (StreamEntry) -> [EngineBatch.Item]) -> ReplyStep<Void> {
        var read: [EngineBatch.Item] = []
        for count in 0..<EntrySteps.most.entries where read.count < EntrySteps.most.items {
            switch state {
            case .between:
                guard let value = values.next() else { return count == 0 ? .end(()) : .items(read) }
                state = EntryReader(value).map { .within($0) } ?? .broken
            case .within, .broken: break
            }
            // What was read before a value that is no entry is delivered first.
            guard case .within(var reader) = state else { return count == 0 ? .invalid : .items(read) }
            guard let entry = reader.step() else {
                state = .within(reader)
                return .items(read)
            }
            state = .between
            read += items(entry)
        }
        return .items(read)
    }
}

/// The rest of a reply with new entries.
///
/// A pure value.
struct LiveReply {
    private var entries: EntrySteps
    private var queue = ItemQueue()
    /// The ID of the last entry whose items are in the queue, or were.
    private var last: EntryID?

    init(_ entries: RedisElements) { self.entries = EntrySteps(entries) }

    /// Makes the next step.
    mutating func step(_ memory: inout ReadingMemory) -> ReplyStep<Void> {
        if let items = queue.next() { return .items(items) }
        // The items of all entries up to this one were delivered.
        if let last { memory.cursor = last }
        let step = entries.step { entry in
            memory.note(entry)
            last = entry.id
            return LiveReply.items(entry)
        }
        guard case .items(let items) = step else { return step }
        queue = ItemQueue(items)
        return .items(queue.next() ?? [])
    }

    private static func items(_ entry: StreamEntry) -> [EngineBatch.Item] {
        switch entry.content {
        case .posts(let posts): posts.map { .post(.init(post: $0, position: entry.id)) }
        case .horizons(let horizons, _, _): horizons.map { .horizon($0) }
        case .end(let end): [.ended(end)]
        case .beginning, .unknown: []
        }
    }
}

/// The rest of a reply to the script that reads the stream for a scan.
///
/// A pure value.
struct ScanReply {
    private enum State {
        case entries(EntrySteps)
        case store(StoreReader)
        case ending(StreamScan.Ending)
    }

    private var state: State
    private var queue = ItemQueue()
    private let first: EntryID
    private let end: (position: EntryID, store: StoreReader)?

    /// Begins to handle a reply.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - first: The ID of the first entry that the stream still has.
    ///   - end: If the reply reaches the end of the stream, that end and the state of the server's data.
    ///   - scan: The scan.
    ///   - memory: The memory of the engine.
    init(
        _ entries: RedisElements, first: EntryID, end: (position: EntryID, store: StoreReader)?,
        _ scan: inout StreamScan, _ memory: inout ReadingMemory
    ) {
        state = .entries(EntrySteps(entries))
        self.first = first
        self.end = end
        if entries.left == 0 { _ = ScanReply.take([], first, &scan, &memory) }
    }

    /// Makes the next step; the position at the end is that of the end of the stream, or nil if the scan goes on.
    mutating func step(_ scan: inout StreamScan, _ memory: inout ReadingMemory) -> ReplyStep<EntryID?> {
        if let items = queue.next() { return .items(items) }
        switch state {
        case .entries(var entries):
            let first = first
            switch entries.step({ ScanReply.take([$0], first, &scan, &memory) }) {
            case .items(let items):
                state = .entries(entries)
                queue = ItemQueue(items)
                return .items(queue.next() ?? [])
            case .invalid: return .invalid
            case .end:
                guard let end else { return .end(nil) }
                state = .store(end.store)
                return .items([])
            }
        case .store(var reader):
            switch reader.step() {
            case .more: state = .store(reader)
            case .invalid: return .invalid
            case .end(let store):
                guard let end else { return .invalid }
                for (end, id) in store.ended { memory.note(endOf: end.poster, at: id) }
                state = .ending(scan.ending(store, at: end.position))
            }
            return .items([])
        case .ending(var ending):
            if let items = ending.next() {
                state = .ending(ending)
                return .items(items)
            }
            memory.finish(scan.subscriptions.map(\.number))
            return .end(end?.position)
        }
    }

    private static func take(
        _ entries: [StreamEntry], _ first: EntryID, _ scan: inout StreamScan, _ memory: inout ReadingMemory
    ) -> [EngineBatch.Item] {
        let items = scan.take(entries, first: first)
        if scan.isTrimmed { memory.miss(scan.subscriptions.map(\.number)) }
        for entry in entries { memory.note(entry) }
        return items
    }
}

extension ReadingMemory {
    /// Notes that an entry was read.
    fileprivate mutating func note(_ entry: StreamEntry) {
        if case .end(let end) = entry.content { note(endOf: end.poster, at: entry.id) }
    }
}

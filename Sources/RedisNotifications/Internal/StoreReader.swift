internal import DistributedNotifications

/// A reader of the state of the server's data from two parts of a reply, in small steps.
///
/// A pure value.
struct StoreReader: Sendable {
    enum Step: Sendable {
        case more
        case end(StreamScan.Store)
        case invalid
    }

    private static let valuesPerStep = 64

    /// The fields and values of the hash that contains the posters' last numbers.
    private var posters: RedisElements
    /// The list of ended posters.
    ///
    /// Each element consists of the poster, the poster's newest number in the stream, the poster's last number, and the ID of the
    /// entry that records the end.
    private var ends: RedisElements
    private var store = StreamScan.Store()

    init(posters: RedisElements, ends: RedisElements) {
        self.posters = posters
        self.ends = ends
    }

    mutating func step() -> Step {
        for _ in 0..<StoreReader.valuesPerStep {
            if let name = posters.next() {
                guard let value = posters.next() else { return .invalid }
                take(name, value)
            } else if let line = ends.next() {
                // The list is not longer, unless another program has added something to it.
                let isKept = ends.left < Scripts.mostEnds
                guard let end = end(line) else { return .invalid }
                if isKept { store.ended.append(end) } else { forget(end.id) }
            } else {
                return .end(store)
            }
        }
        return .more
    }

    /// Takes a field of the hash, unless it is not as this library writes it.
    private mutating func take(_ name: RedisValue, _ value: RedisValue) {
        guard let name = name.word else { return }
        if name == "forgotten" {
            if let id = value.word.flatMap({ EntryID($0) }) { forget(id) }
        } else if let poster = PosterID(name), let number = value.number {
            store.living.append((poster, number.value))
        }
    }

    private mutating func forget(_ id: EntryID) { store.forgotten = max(store.forgotten ?? id, id) }

    private func end(_ line: RedisValue) -> (end: PosterEnd, id: EntryID)? {
        guard let words = line.word?.split(separator: " ").map(String.init), words.count == 4,
            let poster = PosterID(words[0]), let accepted = OutsideNumber(decimal: words[1].utf8),
            let last = OutsideNumber(decimal: words[2].utf8), let id = EntryID(words[3])
        else { return nil }
        return (PosterEnd(poster: poster, accepted: accepted.value, last: last.value), id)
    }
}

internal import DequeModule
internal import DistributedNotifications

extension StreamScan {
    /// The last items of a scan: for each subscription the posts that were held, the ends of posters, and the baselines.
    ///
    /// A server can have any number of posters, and each subscription gets a mark of each. So the items come in batches of a limited
    /// size.
    ///
    /// A pure value.
    struct Ending: IteratorProtocol, Sendable {
        private enum Part: Sendable {
            case held(from: Int)
            case ends(from: Int)
            case marks(from: Int)
        }

        /// The maximum number of items of a batch, except marks.
        private static let mostItems = 64
        /// The maximum number of posters that a batch is made from.
        private static let mostMarks = 256

        private let scan: StreamScan
        private let store: Store
        private let position: EntryID
        private var subscription = 0
        private var part = Part.held(from: 0)

        fileprivate init(_ scan: StreamScan, _ store: Store, _ position: EntryID) {
            self.scan = scan
            self.store = store
            self.position = position
        }

        /// Returns the next batch, which can be empty; nil behind the last one.
        mutating func next() -> [EngineBatch.Item]? {
            guard subscription < scan.subscriptions.count else { return nil }
            let number = scan.subscriptions[subscription].number
            switch part {
            case .held(let start):
                let held = scan.held[number] ?? []
                let end = min(held.count, start + Ending.mostItems)
                part = end == held.count ? .ends(from: 0) : .held(from: end)
                return held[start..<end].map { .post($0) }
            case .ends(let start):
                // The ends tell a subscription that has missed entries what it has missed.
                guard let count = scan.begun[number], scan.isTrimmed, start < store.ended.count else {
                    part = .marks(from: 0)
                    return []
                }
                let end = min(store.ended.count, start + Ending.mostItems)
                part = .ends(from: end)
                let ends = store.ended[start..<end].map(\.end).filter {
                    !scan.seen.contains($0.poster) && !scan.ended.contains($0.poster, amongFirst: count)
                }
                if ends.isEmpty { return [] }
                let marks = ends.map { Baseline.Mark(poster: $0.poster, topic: nil, number: $0.accepted) }
                return ends.map { .ended($0, only: number) } + [baseline(number, marks, isLast: false)]
            case .marks(let start):
                let isNew = scan.begun[number] == nil
                let needsMarks = isNew || scan.isTrimmed
                let end = needsMarks ? min(store.living.count, start + Ending.mostMarks) : store.living.count
                let posters = needsMarks ? store.living[start..<end] : []
                let marks = posters.filter { isNew || !scan.seen.contains($0.poster) }
                    .map { Baseline.Mark(poster: $0.poster, topic: nil, number: $0.number) }
                if end < store.living.count {
                    part = .marks(from: end)
                    return marks.isEmpty ? [] : [baseline(number, marks, isLast: false)]
                }
                subscription += 1
                part = .held(from: 0)
                return [baseline(number, marks, isLast: true)]
            }
        }

        private func baseline(
            _ number: UInt64, _ marks: [Baseline.Mark], isLast: Bool
        ) -> EngineBatch.Item {
            let hasForgotten =
                isLast && scan.begun[number] != nil && scan.isTrimmed && scan.mayHaveMissed(store.forgotten)
            return .baseline(
                Baseline(
                    subscription: number, marks: marks, position: position, isLast: isLast,
                    hasForgotten: hasForgotten))
        }
    }

    /// Ends the scan.
    ///
    /// - Parameters:
    ///   - store: The state of the server's data at the end of the stream.
    ///   - end: The ID up to which all entries were read.
    /// - Returns: The last items for the center, with a last baseline for each subscription.
    func ending(_ store: Store, at end: EntryID) -> Ending { Ending(self, store, end) }

    /// Returns true if the server has forgotten the end of a poster, and the subscriptions can have missed that end.
    private func mayHaveMissed(_ forgotten: EntryID?) -> Bool {
        guard let forgotten else { return false }
        switch start {
        case .end, .first: return false
        case .after(let place), .again(let place): return forgotten > place
        case .otherGeneration: return true
        }
    }
}

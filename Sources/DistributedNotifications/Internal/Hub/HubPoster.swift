internal import DequeModule

/// The state that a hub keeps for one poster.
struct HubPoster: Hashable, Sendable {
    /// The progress of the poster in one topic: the numbers of its newest post and its newest horizon.
    struct Mark: Hashable, Sendable {
        /// The higher of two numbers: that of the newest post, and that of the newest horizon.
        var last: UInt64 = 0
        /// The number of the newest horizon; the time of that horizon is `baseTime`.
        var base: UInt64 = 0
        var baseTime = Int64.max
        /// The place of the mark in the hub's index.
        let place: Place

        init(place: Place) { self.place = place }

        /// The number of bytes that the mark of a topic counts as, with its places in the index and their nodes.
        static func cost(of topic: Topic) -> Int {
            topic.name.utf8.count + (topic.sender?.utf8.count ?? 0) + 1_024
        }

        mutating func raise(to number: UInt64, horizonTime: Int64?) {
            last = max(last, number)
            if let horizonTime, number > base { (base, baseTime) = (number, horizonTime) }
        }
    }

    /// The place of a mark in a ``HubIndex``.
    struct Place: Sendable {
        let nodes: HubIndex.Places
        let serial: UInt64
    }

    private struct Unsettled: Hashable, Sendable {
        let number: UInt64
        var waiting: Int
    }

    /// The number of the share of the poster's process.
    var share: Int
    /// The poster's connection; nil while the poster is not connected.
    var connection: Hub.ConnectionID?
    /// True once the poster has sent its first announcement (``Announcement/isOpening``).
    var isOpen = false
    /// The highest number that the poster has used or skipped.
    ///
    /// Each post up to this number was accepted, or will never be sent.
    var accepted: UInt64 = 0
    var marks = GradualTable<Topic, Mark>()
    /// The number of bytes that the marks count as.
    var bytes = 0
    /// The accepted posts that at least one connection still has to confirm, in the order of their numbers.
    private var unsettled = Deque<Unsettled>()

    init(share: Int) { self.share = share }

    /// The number up to which all posts are settled.
    ///
    /// If posts wait for a confirmation, this is one less than the number of the oldest of them. Otherwise, it is ``accepted``.
    var settled: UInt64 { unsettled.first.map { $0.number - 1 } ?? accepted }

    /// Notes that a post was accepted, and that a number of connections have to confirm it.
    ///
    /// - Parameters:
    ///   - number: The number of the post.
    ///   - waiting: The number of connections that have to confirm the post.
    ///   - most: The maximum number of posts that wait for confirmations. If more would wait, the
    ///     oldest of them is treated as settled.
    mutating func accept(_ number: UInt64, waiting: Int, most: Int) {
        accepted = number
        if waiting == 0 { return }
        unsettled.append(Unsettled(number: number, waiting: waiting))
        if unsettled.count > most { unsettled.removeFirst() }
    }

    /// What a hub keeps of the poster when it has ended; the poster continues from it if it connects again after all.
    var remains: HubPoster {
        var remains = HubPoster(share: share)
        remains.isOpen = true
        remains.accepted = accepted
        remains.marks = marks
        remains.bytes = bytes
        return remains
    }

    /// Notes that the poster will send no more posts with numbers up to `number`.
    mutating func skip(to number: UInt64) { accepted = max(accepted, number) }

    /// Notes that one more connection has confirmed a post, or will never confirm it.
    ///
    /// - Returns: True if ``settled`` has changed.
    mutating func settle(_ number: UInt64) -> Bool {
        guard let first = unsettled.first, first.number <= number else { return false }
        // The numbers are unique and ascending, so at most `number - first.number` posts precede the searched one. If no number
        // is missing, the post is at exactly that index, which is therefore tried first.
        var low = 0
        var high = min(unsettled.count, Int(number - first.number) + 1)
        if unsettled[high - 1].number == number { low = high - 1 }
        while low < high {
            let middle = (low + high) / 2
            if unsettled[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < unsettled.count, unsettled[low].number == number else { return false }
        unsettled[low].waiting -= 1
        var changes = false
        while let first = unsettled.first, first.waiting == 0 {
            unsettled.removeFirst()
            changes = true
        }
        return changes
    }
}

extension HubPoster.Place: Hashable {
    // The place follows from the history of the hub, so that it makes no difference between two hubs.
    static func == (left: HubPoster.Place, right: HubPoster.Place) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

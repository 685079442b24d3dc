internal import DequeModule

/// The blocks and parcels that name their modes, in a line for each mode.
///
/// A block that names several modes stands in the line of each. When it has run in one mode, it is dead in the other lines. A line
/// drops its dead entries when they are at its front, or when they are more than half of the line. So the blocks of a mode cost
/// nothing to runs in other modes, and each operation takes the same time on average, however many blocks wait.
struct ModeBlocks {
    /// A block in the line of one mode.
    private struct Entry {
        /// The number of the block; blocks that arrived later have larger numbers.
        let number: UInt64
        /// The number of blocks without modes that had arrived before this block.
        let behind: Int
        let node: Node
        let isShared: Bool
    }

    private struct Line {
        var entries: Deque<Entry> = []
        var deadCount = 0
    }

    /// The place of the next block to run.
    struct Place {
        /// The mode of the line at whose front the block is; nil for the line of the blocks for every mode.
        fileprivate let mode: Mode?
        let number: UInt64
        /// The number of blocks without modes that had arrived before the block.
        let behind: Int
    }

    /// The lines; each contains at least one block that has not run.
    private var lines: [Mode: Line] = [:]
    /// The line of the blocks that may run in every mode.
    private var everyMode = Line()
    /// The numbers of the blocks that stand in several lines and have not run.
    private var shared: Set<UInt64> = []
    /// The running mode, whose line is served; nil between runs.
    private var mode: Mode?
    /// True if the running mode is common, so that the line of the common modes is served, too.
    private var servesCommon = false

    /// The number of blocks that have not run.
    private(set) var count = 0
    /// The number of the next block that arrives.
    private(set) var next: UInt64 = 0
    /// True if a block may run now.
    private(set) var holdsServed = false
    /// The number of entries that were looked at since the lines were made, for tests.
    private(set) var looks = 0

    /// Adds a block; if it names no mode, it may run in every mode.
    mutating func append(_ node: Node, behind: Int) {
        let modes = node.modes
        let isShared = modes.count > 1
        let entry = Entry(number: next, behind: behind, node: node, isShared: isShared)
        next += 1
        count += 1
        if isShared { shared.insert(entry.number) }
        if modes.isEmpty { everyMode.entries.append(entry) }
        for mode in distinct(modes) { lines[mode, default: Line()].entries.append(entry) }
        findServed()
    }

    /// Changes the modes whose lines are served.
    mutating func serve(_ mode: Mode?, isCommon: Bool) {
        self.mode = mode
        servesCommon = mode != nil && isCommon
        findServed()
    }

    /// Returns true if a block may run in a mode.
    func holdsBlock(for mode: Mode, isCommon: Bool) -> Bool {
        !everyMode.entries.isEmpty || lines[mode] != nil || isCommon && lines[.common] != nil
    }

    private mutating func findServed() {
        guard count > 0, let mode else {
            holdsServed = false
            return
        }
        holdsServed = holdsBlock(for: mode, isCommon: servesCommon)
    }

    /// Returns the place of the oldest block that may run now; nil if there is none.
    mutating func first() -> Place? {
        guard holdsServed, let mode else { return nil }
        var first = everyMode.entries.first.map { Place(mode: nil, number: $0.number, behind: $0.behind) }
        first = older(first, inLineOf: mode)
        return servesCommon ? older(first, inLineOf: .common) : first
    }

    /// Returns a place, or that of the first block of a mode's line, whichever block is older.
    private mutating func older(_ place: Place?, inLineOf mode: Mode) -> Place? {
        guard let entry = lines[mode]?.entries.first else { return place }
        looks += 1
        if let place, place.number < entry.number { return place }
        return Place(mode: mode, number: entry.number, behind: entry.behind)
    }

    /// Removes and returns the block at a place.
    mutating func take(_ place: Place) -> Node {
        count -= 1
        defer { findServed() }
        guard let mode = place.mode else { return everyMode.entries.removeFirst().node }
        guard let entry = lines[mode]?.entries.removeFirst() else {
            preconditionFailure("a place is used before the lines change")
        }
        if entry.isShared {
            shared.remove(entry.number)
            for other in distinct(entry.node.modes) where other != mode { lines[other]?.deadCount += 1 }
            for mode in distinct(entry.node.modes) { dropDead(from: mode) }
        } else {
            dropDead(from: mode)
        }
        return entry.node
    }

    /// Drops the dead entries at the front of a line, and all dead entries if they are more than half of the line.
    private mutating func dropDead(from mode: Mode) {
        guard var line = lines[mode] else { return }
        if line.deadCount == 0 && !line.entries.isEmpty { return }
        // The line is taken out while it changes, so that its entries are not copied.
        lines[mode] = nil
        while let entry = line.entries.first, isDead(entry) {
            looks += 1
            line.entries.removeFirst()
            line.deadCount -= 1
        }
        if line.deadCount > line.entries.count / 2 {
            looks += line.entries.count
            line.entries.removeAll { isDead($0) }
            line.deadCount = 0
        }
        if !line.entries.isEmpty { lines[mode] = line }
    }

    /// True if a block has run in another mode.
    private func isDead(_ entry: Entry) -> Bool { entry.isShared && !shared.contains(entry.number) }

    private func distinct(_ modes: [Mode]) -> [Mode] {
        modes.count < 2 ? modes : Array(Set(modes))
    }

    /// Removes and returns all blocks, oldest first.
    mutating func removeAll() -> [(node: Node, behind: Int)] {
        var all: [UInt64: Entry] = [:]
        for entry in everyMode.entries { all[entry.number] = entry }
        for line in lines.values {
            for entry in line.entries where !isDead(entry) { all[entry.number] = entry }
        }
        let before = next
        self = ModeBlocks()
        next = before
        return all.values.sorted { $0.number < $1.number }.map { ($0.node, $0.behind) }
    }
}

extension Node {
    /// The modes of a block or parcel that names its modes.
    fileprivate var modes: [Mode] {
        switch kind {
        case .blockInModes: withBlock { $0.modes } ?? [.common]
        case .parcelInModes: withParcel { $0.modes } ?? [.common]
        case .block, .parcel, .job, .preferredJob, .signal, .control:
            preconditionFailure("only blocks and parcels name their modes")
        }
    }
}

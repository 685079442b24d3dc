/// The modes of a loop that are common, are running, or contain an input that keeps them alive.
///
/// The table drops a mode as soon as none of these three conditions holds. So a mode that is not in the table is not common, and
/// contains no input that keeps it alive. Blocks, observers and the runs on the stack store the names of their modes themselves.
///
/// The type is not copyable, because a copy at each access in a pass would retain three arrays.
struct ModeTable: ~Copyable {
    private struct Entry {
        var isCommon = false
        /// The number of inputs in the mode that keep it alive.
        var liveInputs = 0
    }

    private var list = ModeList(.default)
    /// The entries of the modes in `list`, each at the same index as its mode.
    private var entries = [Entry(isCommon: true)]

    /// The index of the mode of the innermost run, or of the default mode between runs.
    ///
    /// A pass reads only this mode, so the pass needs no search.
    private var running = 0

    /// The common modes, in the order in which they became common.
    private(set) var common = [Mode.default]

    /// The number of modes in the table.
    var count: Int { list.count }

    /// Records that another mode runs, or that no run is under way.
    mutating func run(in mode: Mode?) {
        let before = running
        running = knownPlace(of: mode ?? .default)
        if before != running { forgetIfUnused(before) }
    }

    func isCommon(_ mode: Mode) -> Bool { entry(mode)?.isCommon ?? false }

    /// True if the running mode contains an input that keeps it alive.
    var runningIsAlive: Bool { @inline(__always) get { entries[running].liveInputs > 0 } }

    /// True if the mode contains an input that keeps it alive.
    func isAlive(_ mode: Mode) -> Bool { (entry(mode)?.liveInputs ?? 0) > 0 }

    /// Makes a mode common.
    ///
    /// - Returns: False if the mode is common already.
    mutating func addCommon(_ mode: Mode) -> Bool {
        let place = knownPlace(of: mode)
        if entries[place].isCommon { return false }
        entries[place].isCommon = true
        common.append(mode)
        return true
    }

    /// Adds a number to the count of inputs that keep a mode alive; the number is negative if inputs have left the mode.
    mutating func countInput(in mode: Mode, by change: Int) {
        let place = knownPlace(of: mode)
        entries[place].liveInputs += change
        precondition(entries[place].liveInputs >= 0, "an input leaves each mode once")
        forgetIfUnused(place)
    }

    private func entry(_ mode: Mode) -> Entry? { place(of: mode).map { entries[$0] } }

    @inline(__always)
    private func place(of mode: Mode) -> Int? {
        list[running] == mode ? running : list.place(of: mode)
    }

    private mutating func knownPlace(of mode: Mode) -> Int {
        if let place = place(of: mode) { return place }
        list.append(mode)
        entries.append(Entry())
        return entries.count - 1
    }

    private mutating func forgetIfUnused(_ place: Int) {
        if place == running || entries[place].isCommon || entries[place].liveInputs > 0 { return }
        list.remove(at: place)
        entries.swapRemove(at: place)
        if running == entries.count { running = place }
    }
}

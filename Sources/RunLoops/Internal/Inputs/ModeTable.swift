/// The modes of a loop that are common, hold an input, or run.
///
/// A mode that is not here is empty and not common, so a mode of which that becomes true is forgotten. Blocks, observers
/// and the runs on the stack have the names of their modes with them.
///
/// Not copyable: a copy would retain three arrays, each time that a pass asks for something.
struct ModeTable: ~Copyable {
    private struct Entry {
        var isCommon = false
        /// The number of inputs in the mode that keep it alive.
        var liveInputs = 0
    }

    private var list = ModeList(.default)
    /// Those of the modes in the list, each at its mode's place.
    private var entries = [Entry(isCommon: true)]

    /// The place of the innermost run's mode, and that of the default mode between runs.
    ///
    /// A pass asks about this mode only, and searches for nothing.
    private var running = 0

    /// The common modes, in the order in which they became common.
    private(set) var common = [RunLoop.Mode.default]

    /// The number of modes in the table.
    var count: Int { list.count }

    /// Takes note that another mode runs, or none.
    mutating func run(in mode: RunLoop.Mode?) {
        let before = running
        running = knownPlace(of: mode ?? .default)
        if before != running { forgetIfUnused(before) }
    }

    func isCommon(_ mode: RunLoop.Mode) -> Bool { entry(mode)?.isCommon ?? false }

    /// True if the running mode holds an input that can become ready.
    var runningIsAlive: Bool { @inline(__always) get { entries[running].liveInputs > 0 } }

    /// True if the mode holds an input that can become ready.
    func isAlive(_ mode: RunLoop.Mode) -> Bool { (entry(mode)?.liveInputs ?? 0) > 0 }

    /// Makes a mode common.
    ///
    /// - Returns: False if it was.
    mutating func addCommon(_ mode: RunLoop.Mode) -> Bool {
        let place = knownPlace(of: mode)
        if entries[place].isCommon { return false }
        entries[place].isCommon = true
        common.append(mode)
        return true
    }

    /// Counts inputs that have joined a mode, or have left it if the number is negative.
    mutating func countInput(in mode: RunLoop.Mode, by change: Int) {
        let place = knownPlace(of: mode)
        entries[place].liveInputs += change
        precondition(entries[place].liveInputs >= 0, "an input leaves each mode once")
        forgetIfUnused(place)
    }

    private func entry(_ mode: RunLoop.Mode) -> Entry? { place(of: mode).map { entries[$0] } }

    @inline(__always)
    private func place(of mode: RunLoop.Mode) -> Int? {
        list.modes[running] == mode ? running : list.place(of: mode)
    }

    private mutating func knownPlace(of mode: RunLoop.Mode) -> Int {
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

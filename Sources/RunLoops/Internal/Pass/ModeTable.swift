/// The modes that a loop has heard of.
struct ModeTable {
    private struct Entry {
        let mode: RunLoop.Mode
        var isCommon: Bool
        /// How many inputs that keep it alive the mode holds.
        var liveInputs = 0
    }

    /// A handful: searching it is faster than hashing a name.
    private var entries = [Entry(mode: .default, isCommon: true)]

    private mutating func index(of mode: RunLoop.Mode) -> Int {
        if let index = entries.firstIndex(where: { $0.mode == mode }) { return index }
        entries.append(Entry(mode: mode, isCommon: false))
        return entries.count - 1
    }

    private func entry(_ mode: RunLoop.Mode) -> Entry? { entries.first { $0.mode == mode } }

    var common: [RunLoop.Mode] { entries.filter(\.isCommon).map(\.mode) }

    func isCommon(_ mode: RunLoop.Mode) -> Bool { entry(mode)?.isCommon ?? false }

    /// Whether the mode holds an input that can become ready.
    func isAlive(_ mode: RunLoop.Mode) -> Bool { (entry(mode)?.liveInputs ?? 0) > 0 }

    /// Makes a mode common.
    ///
    /// - Returns: False if it was.
    mutating func addCommon(_ mode: RunLoop.Mode) -> Bool {
        let index = index(of: mode)
        if entries[index].isCommon { return false }
        entries[index].isCommon = true
        return true
    }

    mutating func countInput(in mode: RunLoop.Mode, by change: Int) {
        let index = index(of: mode)
        entries[index].liveInputs += change
    }
}

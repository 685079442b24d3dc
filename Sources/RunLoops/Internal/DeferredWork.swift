/// Work that waits for a certain step of a pass in one of its modes.
///
/// A flush does what was there when it began; what it adds itself waits for the next flush.
struct DeferredWork {
    private struct Entry {
        let modes: [RunLoop.Mode]
        let body: () -> Void
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(inModes modes: [RunLoop.Mode], _ body: @escaping () -> Void) {
        entries.append(Entry(modes: modes, body: body))
    }

    /// Whether some of it waits for this mode.
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        entries.contains { DeferredWork.matches($0, mode, isCommon) }
    }

    /// Takes out what is to be done in this mode, in order.
    mutating func takeWork(for mode: RunLoop.Mode, isCommon: Bool) -> [() -> Void] {
        var taken: [() -> Void] = []
        var kept: [Entry] = []
        for entry in entries {
            if DeferredWork.matches(entry, mode, isCommon) {
                taken.append(entry.body)
            } else {
                kept.append(entry)
            }
        }
        entries = kept
        return taken
    }

    private static func matches(_ entry: Entry, _ mode: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        entry.modes.contains { $0 == mode || isCommon && $0 == .common }
    }
}

/// A set of modes, each at a place in a list.
///
/// When a mode is removed, the last mode takes its place, so a caller can keep a value for each mode in a parallel list. A short
/// list is searched, which is faster than hashing a name; a long list is hashed.
struct ModeList {
    /// The modes, in no particular order.
    private(set) var modes: [RunLoop.Mode]
    /// The place of each mode; nil while the list is short.
    private var places: [RunLoop.Mode: Int]?

    // The value is computed, so that a forked child cannot hang when it reads the value; see `Moment.never`.
    private static var mostSearched: Int { 8 }

    /// Makes a list of at most one mode.
    init(_ mode: RunLoop.Mode? = nil) { modes = mode.map { [$0] } ?? [] }

    var isEmpty: Bool { modes.isEmpty }
    var count: Int { modes.count }

    @inline(__always)
    func contains(_ mode: RunLoop.Mode) -> Bool {
        guard let places else { return modes.contains(mode) }
        return places[mode] != nil
    }

    /// The place of a mode; nil if the mode is not in the list.
    func place(of mode: RunLoop.Mode) -> Int? {
        guard let places else { return modes.firstIndex(of: mode) }
        return places[mode]
    }

    /// Adds a mode at the end of the list.
    ///
    /// - Precondition: The mode is not in the list.
    mutating func append(_ mode: RunLoop.Mode) {
        places?[mode] = modes.count
        modes.append(mode)
        if places == nil && modes.count > ModeList.mostSearched {
            places = Dictionary(uniqueKeysWithValues: zip(modes, modes.indices))
        }
    }

    /// Removes the mode at a place, and moves the last mode there.
    mutating func remove(at place: Int) {
        let removed = modes.swapRemove(at: place)
        places?[removed] = nil
        if place < modes.count { places?[modes[place]] = place }
        // This limit is well below the limit at which the dictionary is made, so that adding and removing one mode repeatedly does
        // not make the dictionary each time.
        if modes.count <= ModeList.mostSearched / 2 { places = nil }
    }
}

/// A set of modes, each at a place in a list.
///
/// A mode that is removed gives its place to the last one, so a caller can keep something for each mode in a list of
/// its own. A few modes are searched, which is faster than hashing a name; many are hashed.
struct ModeList {
    /// The modes, in no order.
    private(set) var modes: [RunLoop.Mode]
    /// The place of each mode; nil while few are here.
    private var places: [RunLoop.Mode: Int]?

    // Computed, for the sake of forked children, as `Moment.never` is.
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

    /// The place of a mode, or nil if it is not here.
    func place(of mode: RunLoop.Mode) -> Int? {
        guard let places else { return modes.firstIndex(of: mode) }
        return places[mode]
    }

    /// Adds a mode at the end of the list.
    ///
    /// - Precondition: The mode is not here.
    mutating func append(_ mode: RunLoop.Mode) {
        places?[mode] = modes.count
        modes.append(mode)
        if places == nil && modes.count > ModeList.mostSearched {
            places = Dictionary(uniqueKeysWithValues: zip(modes, modes.indices))
        }
    }

    /// Removes the mode at a place, where the last one is from then on.
    mutating func remove(at place: Int) {
        let removed = modes.swapRemove(at: place)
        places?[removed] = nil
        if place < modes.count { places?[modes[place]] = place }
        // Well below the number at which the places are made: a mode that comes and goes does not make them each time.
        if modes.count <= ModeList.mostSearched / 2 { places = nil }
    }
}

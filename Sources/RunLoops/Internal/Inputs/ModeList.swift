/// A set of modes in which each mode has a place: its index in ``modes``.
///
/// When a mode is removed, the last mode moves to its place. So a caller can keep a value for each mode in a parallel list.
///
/// A short list is searched, which is faster than hashing the name of a mode. A long list is hashed.
struct ModeList {
    /// The modes, in no particular order.
    private(set) var modes: [RunLoop.Mode]
    /// The index of each mode in `modes`; nil for a short list, which is searched instead.
    private var places: [RunLoop.Mode: Int]?

    // The constant is a computed property. A stored constant is initialized at its first use, and a child process that is forked at
    // that moment would hang when it reads the constant; see `Moment.never`.
    private static var mostSearched: Int { 8 }

    /// Makes an empty list, or a list of one mode.
    init(_ mode: RunLoop.Mode? = nil) { modes = mode.map { [$0] } ?? [] }

    var isEmpty: Bool { modes.isEmpty }
    var count: Int { modes.count }

    @inline(__always)
    func contains(_ mode: RunLoop.Mode) -> Bool {
        guard let places else { return modes.contains(mode) }
        return places[mode] != nil
    }

    /// The index of a mode in ``modes``; nil if the mode is not in the list.
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

/// A set of modes in which each mode has a place: its index in ``modes``.
///
/// When a mode is removed, the last mode moves to its place. So a caller can keep a value for each mode in a parallel list.
///
/// A short list is searched, which is faster than hashing the name of a mode. A long list is hashed.
@usableFromInline
struct ModeList: Sendable {
    /// The mode at place 0; nil for an empty list.
    ///
    /// It is stored apart, because the list of one mode, which most inputs are in, then needs no memory of its own.
    private var first: Mode?
    /// The modes at the places after 0.
    private var others: [Mode] = []
    /// The place of each mode; nil for a short list, which is searched instead.
    private var places: [Mode: Int]?

    // The constant is a computed property. A stored constant is initialized at its first use, and a child process that is forked at
    // that moment would hang when it reads the constant; see `Moment.never`.
    private static var mostSearched: Int { 8 }

    /// Makes an empty list, or a list of one mode.
    init(_ mode: Mode? = nil) { first = mode }

    /// The modes, in no particular order.
    ///
    /// Each call makes a new array.
    var modes: [Mode] { first.map { [$0] + others } ?? [] }

    var isEmpty: Bool { @inline(__always) get { first == nil } }
    var count: Int { @inline(__always) get { first == nil ? 0 : 1 + others.count } }

    /// The mode at a place.
    ///
    /// - Precondition: The place is less than ``count``.
    subscript(place: Int) -> Mode {
        @inline(__always) get {
            if place > 0 { return others[place - 1] }
            guard let first else { preconditionFailure("an empty list has no places") }
            return first
        }
    }

    @inline(__always)
    func contains(_ mode: Mode) -> Bool {
        if first == mode { return true }
        return !others.isEmpty && placeAmongOthers(of: mode) != nil
    }

    /// The index of a mode in ``modes``; nil if the mode is not in the list.
    @usableFromInline @inline(__always)
    func place(of mode: RunLoop.Mode) -> Int? {
        if first == mode { return 0 }
        return others.isEmpty ? nil : placeAmongOthers(of: mode)
    }

    @inline(never)
    private func placeAmongOthers(of mode: Mode) -> Int? {
        guard let places else { return others.firstIndex(of: mode).map { $0 + 1 } }
        return places[mode]
    }

    /// Adds a mode at the end of the list.
    ///
    /// - Precondition: The mode is not in the list.
    mutating func append(_ mode: Mode) {
        if first == nil {
            first = mode
            return
        }
        let place = count
        places?[mode] = place
        others.append(mode)
        if places == nil && count > ModeList.mostSearched {
            places = Dictionary(uniqueKeysWithValues: zip(modes, 0..<count))
        }
    }

    /// Removes the mode at a place, and moves the last mode there.
    mutating func remove(at place: Int) {
        if others.isEmpty {
            precondition(place == 0 && first != nil, "the place has a mode")
            first = nil
            return
        }
        let removed = self[place]
        if place == 0 { first = others.removeLast() } else { others.swapRemove(at: place - 1) }
        places?[removed] = nil
        if place < count {
            let moved = self[place]
            places?[moved] = place
        }
        // This limit is well below the limit at which the dictionary is made, so that adding and removing one mode repeatedly does
        // not make the dictionary each time.
        if count <= ModeList.mostSearched / 2 { places = nil }
    }
}

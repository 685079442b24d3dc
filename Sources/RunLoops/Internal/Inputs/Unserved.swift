/// Something that a loop holds and has never served, in words.
struct Unserved: Sendable {
    /// The kind of the object.
    let kind: String
    /// The place where the object was made; empty if it has none.
    let place: String

    init(_ kind: String, madeAt place: String) {
        self.kind = kind
        self.place = place
    }

    init(_ kind: String, madeAt origin: SourceLocation) { self.init(kind, madeAt: origin.description) }

    /// The kind and the place, for a sentence.
    var words: String { place.isEmpty ? kind : "\(kind) made at \(place)" }
}

extension Sequence<Unserved> {
    /// The words of all of them, with only the first of each place.
    ///
    /// One object of the program can be several inputs of a loop, such as the signals and the deadline of a ``GracefulStop``, or a
    /// connection in several modes. All of them have the place of that object.
    var wordsOfEachPlace: [String] {
        var places: Set<String> = []
        return filter { $0.place.isEmpty || places.insert($0.place).inserted }.map(\.words)
    }
}

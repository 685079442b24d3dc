internal import Synchronization

/// The numbers that stand for source locations, modes and texts in events.
///
/// A *place* is any of these. A place keeps its number until the process ends. Source locations are string literals, and the
/// program itself names its modes, so the table stays small. When the table is full, all further places have the number 0.
enum RecordedPlaces {
    /// A source location, or a text such as the name of a mode.
    enum Place: Hashable, Sendable {
        /// A source location: the address of a zero-terminated literal that contains the file's name, and the line.
        case line(UInt, UInt32)
        /// Any other text.
        case text(String)
    }

    private struct Table {
        var numbers: [Place: UInt32] = [:]
        /// The places that have numbers; the index of a place is its number.
        ///
        /// All other places share the number 0.
        var places: [Place] = [.text("an unknown place")]
    }

    static let most = 1 << 16

    /// The numbers of the places, behind a lock that a forked child can use.
    ///
    /// A forked child can make its own recording, which needs these numbers.
    private static let table = ForkSafe(Table())

    /// Returns the number of a place; a new place gets a new number.
    static func number(of place: Place) -> UInt32 {
        table.withLock { table in
            if let known = table.numbers[place] { return known }
            guard table.places.count < most else { return 0 }
            let number = UInt32(table.places.count)
            table.places.append(place)
            table.numbers[place] = number
            return number
        }
    }

    /// The texts of all places; the index of a text is the number of its place.
    static func texts() -> [String] { table.withLock { $0.places }.map(\.text) }
}

extension RecordedPlaces.Place {
    init(_ location: SourceLocation) {
        let address = location.address
        self = address == 0 ? .text(location.description) : .line(address, location.line)
    }

    fileprivate var text: String {
        switch self {
        case .text(let text): return text
        case .line(let address, let line):
            guard let name = unsafe UnsafePointer<CChar>(bitPattern: address) else { return "" }
            // Safe: the name is that of a static string, which ends with a zero and is never freed.
            let file = unsafe String(cString: name)
            return line == 0 ? file : "\(file):\(line)"
        }
    }
}

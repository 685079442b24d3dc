/// A part of a loop that another module provides, for an inspector.
///
/// Examples are a listener, the connections that were made at one place, a port between processes, and the observers of
/// notifications.
package struct InspectedPart: Sendable {
    /// A count with its name.
    package struct Count: Sendable {
        package let name: String
        package let value: Int

        package init(_ name: String, _ value: Int) {
            self.name = name
            self.value = value
        }
    }

    /// The kind of the part, in words.
    package let kind: String
    /// The place in the source where the part was made; empty if it was made at several places.
    package let madeAt: String
    /// The counts, in the order in which they are shown.
    package let counts: [Count]

    package init(_ kind: String, madeAt: SourceLocation?, _ counts: [Count]) {
        self.init(kind: kind, madeAt: madeAt?.description ?? "", counts: counts)
    }

    private init(kind: String, madeAt: String, counts: [Count]) {
        self.kind = kind
        self.madeAt = madeAt
        self.counts = counts
    }
}

extension InspectedPart {
    /// Adds up the counts of two parts of the same kind.
    package static func + (one: InspectedPart, other: InspectedPart) -> InspectedPart {
        InspectedPart(
            kind: one.kind, madeAt: one.madeAt,
            counts: zip(one.counts, other.counts).map { Count($0.name, $0.value + $1.value) })
    }
}

/// An object of another module that describes itself to an inspector.
package protocol Inspected: AnyObject {
    /// The parts that the object represents.
    ///
    /// They are read on the thread of the object's loop, during an inspection.
    var parts: [InspectedPart] { get }
}

/// A description of objects that another module keeps with a loop; an inspector shows it.
///
/// It can describe a listener, the connections that were made at one source location, a port between processes, or the observers of
/// notifications, for example.
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

    /// The kind of the objects, in words.
    package let kind: String
    /// The source location at which the objects were made; empty if they were made at several locations.
    package let madeAt: String
    /// The counts that describe the objects, in the order in which an inspector shows them.
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
    /// Combines the descriptions of two groups of objects of the same kind, by adding up their counts.
    package static func + (one: InspectedPart, other: InspectedPart) -> InspectedPart {
        InspectedPart(
            kind: one.kind, madeAt: one.madeAt,
            counts: zip(one.counts, other.counts).map { Count($0.name, $0.value + $1.value) })
    }
}

/// An object of another module that describes itself to an inspector.
package protocol Inspected: AnyObject {
    /// The descriptions of the object and of what it contains.
    ///
    /// The descriptions are read on the thread of the object's loop, during an inspection.
    var parts: [InspectedPart] { get }
}

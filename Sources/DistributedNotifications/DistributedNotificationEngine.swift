/// The way in which the notifications of a center reach other centers.
///
/// It is given to the initializer of ``DistributedNotificationCenter``, and is the only part of a program that differs between
/// one machine and many.
///
/// > Thread safety: a value.
public struct DistributedNotificationEngine: Sendable {
    /// Makes the engine of one center.
    package let make: EngineMaker
    /// The words for the engine in diagnostics.
    package let name: String

    package init(name: String, make: @escaping EngineMaker) {
        self.name = name
        self.make = make
    }
}

extension DistributedNotificationEngine: CustomStringConvertible {
    /// The kind of the engine, and its place.
    public var description: String { name }
}

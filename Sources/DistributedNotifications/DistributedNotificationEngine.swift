/// The way in which the notifications of a center reach other centers.
///
/// Pass an engine to the initializer of ``DistributedNotificationCenter``. The engine is the only part of a program that differs
/// between one machine and many.
///
/// > Thread safety: a value.
public struct DistributedNotificationEngine: Sendable {
    /// A closure that makes the engine of one center.
    package let make: EngineMaker
    /// The name of the engine in diagnostics.
    package let name: String

    package init(name: String, make: @escaping EngineMaker) {
        self.name = name
        self.make = make
    }
}

extension DistributedNotificationEngine: CustomStringConvertible {
    /// The kind of the engine, and its address.
    public var description: String { name }
}

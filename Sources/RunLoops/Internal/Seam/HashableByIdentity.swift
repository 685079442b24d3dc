/// A type whose values are equal only if they stand for the same object.
///
/// The members below are `public` so that they are what `Hashable` asks a public type for.
///
/// > Thread safety: any thread.
package protocol HashableByIdentity: Hashable {
    /// The object that a value stands for.
    var identity: ObjectIdentifier { get }
}

extension HashableByIdentity {
    /// Returns true if both stand for the same object.
    ///
    /// - Parameters:
    ///   - left: A value.
    ///   - right: Another value.
    /// - Returns: True if both stand for the same object.
    public static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

    /// Hashes the identity.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension HashableByIdentity where Self: AnyObject {
    package var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

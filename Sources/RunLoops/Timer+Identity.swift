extension Timer: CustomStringConvertible {
    /// The place where the timer was made, and its interval.
    public var description: String {
        "\(isValid ? "" : "invalid ")timer made at \(origin)\(interval > 0 ? ", every \(timeInterval)" : "")"
    }
}

extension Timer: Hashable {
    /// Returns true if both are the same timer.
    ///
    /// - Parameters:
    ///   - left: A timer.
    ///   - right: Another timer.
    /// - Returns: True if both are the same timer.
    public static func == (left: Timer, right: Timer) -> Bool { left === right }

    /// Hashes the timer's identity.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

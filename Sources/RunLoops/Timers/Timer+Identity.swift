extension Timer: CustomStringConvertible {
    /// The place where the timer was made, and its interval.
    public var description: String {
        "\(isValid ? "" : "invalid ")timer made at \(origin)\(interval > 0 ? ", every \(timeInterval)" : "")"
    }
}

extension Timer: HashableByIdentity {}

public import RunLoops

/// The reason that a name of a port could not be taken or found.
///
/// > Thread safety: a value.
public enum PortNameError: Error, Hashable, Sendable {
    /// The text cannot be a name, for the given reason.
    case malformed(name: String, reason: String)

    /// A live port, of this process or of another process, has the name.
    case taken(PortName, ErrorOrigin)

    /// No live port has the name.
    case unknown(PortName, ErrorOrigin)

    /// The deadline passed before the port had room for another connection, because the port's process accepts no connections.
    case timedOut(PortName)

    /// The directory of the names is not safe, because other users could take names in it.
    ///
    /// The associated `reason` is one of these: the path leads to no directory or to a link, the directory belongs to another user,
    /// other users are allowed to enter it, or its descriptor cannot be used because there is no `/proc`.
    case unsafeDirectory(path: String, reason: String)

    /// The user has no directory in which plain names would be safe from other users.
    ///
    /// The reason says what is wrong with each of the places that ``PortNames/user`` lists.
    case noDirectory(reason: String)

    /// The kernel has refused a call.
    case refused(SystemError)
}

extension PortNameError {
    /// Makes a ``taken(_:_:)`` error without an origin, to compare with or to throw in your own code.
    ///
    /// - Parameter name: The name.
    /// - Returns: The error.
    public static func taken(_ name: PortName) -> PortNameError { .taken(name, .unknown) }

    /// Makes an ``unknown(_:_:)`` error without an origin, to compare with or to throw in your own code.
    ///
    /// - Parameter name: The name.
    /// - Returns: The error.
    public static func unknown(_ name: PortName) -> PortNameError { .unknown(name, .unknown) }

    /// Returns this error, with the given origin if its own origin is unknown.
    func about(_ origin: @autoclosure () -> ErrorOrigin) -> PortNameError {
        switch self {
        case .taken(let name, let known): known.isUnknown ? .taken(name, origin()) : self
        case .unknown(let name, let known): known.isUnknown ? .unknown(name, origin()) : self
        case .malformed, .timedOut, .unsafeDirectory, .noDirectory, .refused: self
        }
    }
}

extension PortNameError: CustomStringConvertible {
    /// The reason in words, preceded by the origin if it is known.
    public var description: String {
        switch self {
        case .malformed(let name, let reason): "\"\(name)\" cannot be the name of a port: \(reason)"
        case .taken(let name, let origin): origin.describing("a live port has the name \(name)")
        case .unknown(let name, let origin): origin.describing("no port has the name \(name)")
        case .timedOut(let name): "the port \(name) accepted no connection before the deadline"
        case .unsafeDirectory(let path, let reason):
            "\(path) is not safe for names of ports: \(reason); remove it, or use PortNames(directory:)"
        case .noDirectory(let reason):
            "the user has no directory that is safe for names of ports: \(reason); set XDG_RUNTIME_DIR to a directory of the user's own with mode 700, or use PortNames(directory:)"
        case .refused(let error): error.description
        }
    }
}

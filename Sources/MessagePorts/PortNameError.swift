public import RunLoops

/// Why a name of a port could not be had, or not be found.
///
/// > Thread safety: a value.
public enum PortNameError: Error, Hashable, Sendable {
    /// This can be no name; the reason says why.
    case malformed(name: String, reason: String)

    /// A port that is alive has the name: of this process or of another one.
    case taken(PortName)

    /// No port that is alive has the name.
    case unknown(PortName)

    /// The port had no room for another connection before the deadline: its process does not take any.
    case timedOut(PortName)

    /// The directory of the names is not the user's alone, so that others could take names in it; or where there is no
    /// `/proc`, that cannot be made sure of. The reason says which.
    case unsafeDirectory(path: String, reason: String)

    /// The user has no directory in which plain names would be safe from other users; the reason says what is wrong with each
    /// place of ``PortNames/user``.
    case noDirectory(reason: String)

    /// The kernel refused.
    case refused(SystemError)
}

extension PortNameError: CustomStringConvertible {
    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .malformed(let name, let reason): "\"\(name)\" can be no name of a port: \(reason)"
        case .taken(let name): "a port that is alive has the name \(name)"
        case .unknown(let name): "no port has the name \(name)"
        case .timedOut(let name): "the port \(name) has taken no connection before the deadline"
        case .unsafeDirectory(let path, let reason):
            "\(path) is no place for names of ports: \(reason); remove it, or use PortNames(directory:)"
        case .noDirectory(let reason):
            "the user has no directory that is safe for names of ports: \(reason); set XDG_RUNTIME_DIR to a directory of the user's own with mode 700, or use PortNames(directory:)"
        case .refused(let error): error.description
        }
    }
}

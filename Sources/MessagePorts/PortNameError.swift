public import RunLoops

/// The reason that a name of a port could not be taken or found.
///
/// > Thread safety: a value.
public struct PortNameError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// The name of the port, as it was given; empty if the error is not about a single name.
    public let name: String

    /// What is wrong with the name or the directory, in words for people; empty if the reason says all.
    public let details: String

    /// The error of the system call; nil unless the reason is ``Reason/refused``.
    public let systemError: SystemError?

    /// Makes an error, for tests and for code that stands in for names.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - name: The name of the port.
    ///   - details: What is wrong, in words.
    ///   - systemError: The error of the system call.
    public init(
        _ reason: Reason, name: String = "", details: String = "", systemError: SystemError? = nil
    ) {
        self.reason = reason
        self.name = name
        self.details = details
        self.systemError = systemError
    }

    package static func taken(_ name: PortName) -> PortNameError { PortNameError(.taken, name: "\(name)") }

    package static func unknown(_ name: PortName) -> PortNameError {
        PortNameError(.unknown, name: "\(name)")
    }

    static func timedOut(_ name: PortName) -> PortNameError { PortNameError(.timedOut, name: "\(name)") }

    static func unsafeDirectory(_ path: String, _ flaw: String) -> PortNameError {
        PortNameError(.unsafeDirectory, details: "\(path): \(flaw)")
    }

    static func refused(_ error: SystemError) -> PortNameError { PortNameError(.refused, systemError: error) }

    /// The kinds of errors of names.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case malformed = "the text cannot be the name of a port"
            case taken = "a live port has the name"
            case unknown = "no port has the name"
            case timedOut = "the port accepted no connection before the deadline"
            case unsafeDirectory = "the directory is not safe for names of ports"
            case noDirectory = "the user has no directory that is safe for names of ports"
            case refused = "the kernel has refused a call"
        }

        private let kind: Kind

        /// The text cannot be a name; ``PortNameError/details`` says why.
        public static let malformed = Reason(kind: .malformed)
        /// A live port, of this process or of another process, has the name.
        public static let taken = Reason(kind: .taken)
        /// No live port has the name.
        public static let unknown = Reason(kind: .unknown)
        /// The deadline passed before the port had room for another connection, because the port's process accepts no connections.
        public static let timedOut = Reason(kind: .timedOut)
        /// The directory of the names is not safe, because other users could take names in it.
        ///
        /// ``PortNameError/details`` has the path, and one of these: the path leads to no directory or to a link, the directory
        /// belongs to another user, other users are allowed to enter it, or its descriptor cannot be used because there is no
        /// `/proc`.
        public static let unsafeDirectory = Reason(kind: .unsafeDirectory)
        /// The user has no directory in which plain names would be safe from other users.
        ///
        /// ``PortNameError/details`` says what is wrong with each of the places that ``PortNames/user`` lists.
        public static let noDirectory = Reason(kind: .noDirectory)
        /// The kernel has refused a call, with ``PortNameError/systemError``.
        public static let refused = Reason(kind: .refused)

        /// Returns true if an error is a ``PortNameError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? PortNameError)?.reason == reason
        }
    }
}

extension PortNameError: CustomStringConvertible {
    /// The reason, the name and the details, in words.
    public var description: String {
        switch reason {
        case .malformed: "\"\(name)\" cannot be the name of a port: \(details)"
        case .taken, .unknown: "\(reason) \(name)"
        case .timedOut: "the port \(name) accepted no connection before the deadline"
        case .unsafeDirectory: "\(reason): \(details); remove it, or use PortNames(directory:)"
        case .noDirectory:
            "\(reason): \(details); set XDG_RUNTIME_DIR to a directory of the user's own with mode 700, or use PortNames(directory:)"
        default: systemError?.description ?? "\(reason)"
        }
    }
}

extension PortNameError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}

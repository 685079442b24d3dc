public import MessagePorts

/// The reason that a process cannot be inspected.
///
/// > Thread safety: a value.
public struct RemoteInspectorError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// What is known beyond the reason, in words for people; empty if that is nothing.
    ///
    /// The other process can have written the text. Characters that could change a terminal or a log are replaced in it.
    public var details: String {
        if case .details(let details) = cause { details } else { "" }
    }

    /// The ID that no process has; nil unless the reason is ``Reason/noProcess``.
    public var processID: Int32? {
        if case .process(let processID) = cause { processID } else { nil }
    }

    /// The error of the message port; nil unless the reason is ``Reason/port``.
    public var portError: MessagePortError? {
        if case .port(let error) = cause { error } else { nil }
    }

    /// The process that has taken the name of the inspector; nil unless the reason is ``Reason/notTheProcess``.
    public var peer: PeerCredentials? {
        if case .peer(let peer) = cause { peer } else { nil }
    }

    /// What belongs to the reason.
    private enum Cause: Hashable, Sendable {
        case details(String)
        case process(Int32)
        case port(MessagePortError)
        case peer(PeerCredentials)
    }

    private let cause: Cause?

    /// Makes an error, for tests.
    ///
    /// Pass what belongs to the reason, and nothing else.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - details: What is known beyond the reason, in words.
    ///   - processID: The ID that no process has.
    ///   - portError: The error of the message port.
    ///   - peer: The process that has taken the name.
    public init(
        _ reason: Reason, details: String = "", processID: Int32? = nil, portError: MessagePortError? = nil,
        peer: PeerCredentials? = nil
    ) {
        self.reason = reason
        cause =
            processID.map { .process($0) } ?? portError.map { .port($0) } ?? peer.map { .peer($0) }
            ?? (details.isEmpty ? nil : .details(details))
    }

    static func port(_ error: MessagePortError) -> RemoteInspectorError { .init(.port, portError: error) }

    static func refused(_ details: String) -> RemoteInspectorError { .init(.refused, details: details) }

    static func malformed(_ details: String) -> RemoteInspectorError { .init(.malformed, details: details) }

    /// The kinds of errors of a look at another process.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case noProcess = "there is no process"
            case port = "the process has no inspector"
            case notTheProcess = "the inspector's name is taken by another process"
            case refused = "the inspector has refused to answer"
            case malformed = "the answer is not that of an inspector"
        }

        private let kind: Kind

        /// There is no process with the ID ``RemoteInspectorError/processID``.
        public static let noProcess = Reason(kind: .noProcess)
        /// The process has no inspector, or the inspector did not answer in time; ``RemoteInspectorError/portError`` says which.
        public static let port = Reason(kind: .port)
        /// The process that listens under the name of the inspector is not the requested one, but ``RemoteInspectorError/peer``.
        public static let notTheProcess = Reason(kind: .notTheProcess)
        /// The inspector has refused to answer, for the reason in ``RemoteInspectorError/details``.
        public static let refused = Reason(kind: .refused)
        /// The answer does not have the form that an inspector of this version sends; ``RemoteInspectorError/details`` says why.
        public static let malformed = Reason(kind: .malformed)

        /// Returns true if an error is a ``RemoteInspectorError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? RemoteInspectorError)?.reason == reason
        }
    }
}

extension RemoteInspectorError: CustomStringConvertible {
    /// The reason and what belongs to it, in words.
    public var description: String {
        switch cause {
        case .process(let process): "\(reason) \(process)"
        case .port(let error) where error.reason != .name: "\(error)"
        case .port(let error): "\(reason): \(error)"
        case .peer(let peer): "\(reason): \(peer)"
        case .details(let details): reason == .refused ? details : "\(reason): \(details)"
        case nil: "\(reason)"
        }
    }
}

extension RemoteInspectorError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}

/// The loop, port, source, file or notification that an error is about, and the place in the code where your program made it.
///
/// The description of an error names the origin, as in `port made at Server/Orders.swift:12: the port has ended`. The text is built
/// only when you read the description.
///
/// All origins compare equal. So two errors with the same reason are equal, whatever object they are about, and you can write
/// `error == .timedOut` or `catch RequestError.timedOut` without an origin.
///
/// > Thread safety: a value.
public struct ErrorOrigin: Sendable {
    private indirect enum Subject: Sendable {
        case loop(RunLoop)
        case port(SourceLocation)
        case portSet(SourceLocation)
        case source(descriptor: CInt, SourceLocation)
        case signal(CInt, SourceLocation)
        case process(CInt, SourceLocation)
        case library(SourceLocation)
        case file(String)
        case named(StaticString, String, SourceLocation)
        case unnamed(StaticString, any CustomStringConvertible & Sendable)
    }

    /// The object that the error is about; nil in an error that your program has made.
    ///
    /// The cases are stored in a box. An error without an origin has no box, so it allocates nothing.
    private let subject: Subject?

    private init(_ subject: Subject?) { self.subject = subject }

    /// The origin of an error about an object that is not known.
    package static let unknown = ErrorOrigin(nil)

    static func loop(_ loop: RunLoop) -> ErrorOrigin { ErrorOrigin(.loop(loop)) }

    static func port(_ place: SourceLocation) -> ErrorOrigin { ErrorOrigin(.port(place)) }

    static func portSet(_ place: SourceLocation) -> ErrorOrigin { ErrorOrigin(.portSet(place)) }

    static func source(_ descriptor: CInt, _ place: SourceLocation) -> ErrorOrigin {
        ErrorOrigin(.source(descriptor: descriptor, place))
    }

    static func signal(_ signal: CInt, _ place: SourceLocation) -> ErrorOrigin {
        ErrorOrigin(.signal(signal, place))
    }

    static func process(_ processID: CInt, _ place: SourceLocation) -> ErrorOrigin {
        ErrorOrigin(.process(processID, place))
    }

    static func library(_ place: SourceLocation) -> ErrorOrigin { ErrorOrigin(.library(place)) }

    package static func file(_ path: String) -> ErrorOrigin { ErrorOrigin(.file(path)) }

    /// Returns the origin of an error about a named object of another module.
    ///
    /// - Parameters:
    ///   - kind: The kind of the object, such as "notification".
    ///   - name: The name of the object.
    ///   - place: The place where the object was made.
    /// - Returns: The origin.
    package static func named(_ kind: StaticString, _ name: String, _ place: SourceLocation) -> ErrorOrigin {
        ErrorOrigin(.named(kind, name, place))
    }

    /// Returns the origin of an error about an unnamed object of another module.
    ///
    /// - Parameters:
    ///   - relation: The text before the object's description, such as "request of".
    ///   - thing: The object.
    /// - Returns: The origin.
    package static func unnamed(
        _ relation: StaticString, _ thing: some CustomStringConvertible & Sendable
    ) -> ErrorOrigin {
        ErrorOrigin(.unnamed(relation, thing))
    }

    /// True if no origin is known.
    package var isUnknown: Bool { subject == nil }

    /// Returns the text of an error: its reason, preceded by the origin if the origin is known.
    package func describing(_ reason: String) -> String { subject == nil ? reason : "\(self): \(reason)" }
}

extension ErrorOrigin: Hashable {
    /// Returns true, because all origins are equal.
    ///
    /// - Parameters:
    ///   - left: An origin.
    ///   - right: Another origin.
    /// - Returns: True.
    public static func == (left: ErrorOrigin, right: ErrorOrigin) -> Bool { true }

    /// Hashes nothing, because all origins are equal.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) {}
}

extension ErrorOrigin: CustomStringConvertible {
    /// The kind and name of the object, and the place where it was made, as in `port made at Server/Orders.swift:12`.
    public var description: String {
        switch subject {
        case .loop(let loop): "\(loop)"
        case .port(let place): "port made at \(place)"
        case .portSet(let place): "port set made at \(place)"
        case .source(let descriptor, let place): "source of descriptor \(descriptor) made at \(place)"
        case .signal(let signal, let place): "source of \(SignalNumber(signal)) made at \(place)"
        case .process(let processID, let place): "source of process \(processID) made at \(place)"
        case .library(let place): "library source made at \(place)"
        case .file(let path): path
        case .named(let kind, let name, let place): "\(kind) \"\(name)\" made at \(place)"
        case .unnamed(let relation, let thing): "\(relation) \(thing)"
        case nil: "unknown origin"
        }
    }
}

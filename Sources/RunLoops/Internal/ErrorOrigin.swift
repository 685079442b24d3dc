/// The object that an error is about, and the place in the code where your program made it, as text.
///
/// The text is made with the error, because an origin must not keep the object. It is part of the error's description, as in
/// `port made at Server/Orders.swift:12: the port has ended`.
///
/// All origins compare equal, so two errors with the same reason are equal, whatever object they are about.
package struct ErrorOrigin: Sendable {
    private indirect enum Text: Sendable {
        case known(String)
    }

    /// A box, so that an error is small, and one without an origin allocates nothing.
    private let text: Text?

    /// The origin of an error that says nothing of an object.
    package static let unknown = ErrorOrigin(text: nil)

    private init(text: Text?) { self.text = text }

    package init(_ text: String) { self.init(text: .known(text)) }

    /// True if no origin is known.
    package var isUnknown: Bool { text == nil }

    /// Returns the text of an error: its reason, preceded by the origin if the origin is known.
    package func describing(_ reason: String) -> String {
        if case .known(let origin) = text { "\(origin): \(reason)" } else { reason }
    }
}

extension ErrorOrigin: Hashable {
    package static func == (left: ErrorOrigin, right: ErrorOrigin) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

/// An error whose description names the object that it is about.
package protocol ErrorWithOrigin: Error {
    var origin: ErrorOrigin { get set }
}

extension ErrorWithOrigin {
    /// Returns this error, with the given origin if its own origin is unknown.
    package func about(_ origin: @autoclosure () -> String) -> Self {
        guard self.origin.isUnknown else { return self }
        var copy = self
        copy.origin = ErrorOrigin(origin())
        return copy
    }
}

import Testing

/// A behaviour, as a text, on NIOPosix and on a run loop.
struct Comparison: Sendable, CustomTestStringConvertible {
    let name: String
    let body: @Sendable (Backend) throws -> String
    private let differences: [Difference]
    private let kinds: Set<Backend.Kind>

    /// A difference that is intended.
    struct Difference: Sendable {
        let reason: String
        /// The text on a run loop.
        let text: String
        let kinds: Set<Backend.Kind>

        init(
            on kinds: Set<Backend.Kind> = Backend.Kind.onRunLoop, reason: String, onRunLoop text: String
        ) {
            self.reason = reason
            self.text = text
            self.kinds = kinds
        }
    }

    var testDescription: String { name }

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - name: The behaviour.
    ///   - kinds: The kinds of channels that are compared with NIOPosix. A row that has no accepted connection concerns one kind only.
    ///   - differences: Why texts differ; the others are equal.
    ///   - body: Makes the text.
    init(
        _ name: String, kinds: Set<Backend.Kind> = Backend.Kind.onRunLoop, differences: Difference...,
        body: @escaping @Sendable (Backend) throws -> String
    ) {
        self.name = name
        self.kinds = kinds
        self.differences = differences
        self.body = body
    }

    func concerns(_ kind: Backend.Kind) -> Bool { kinds.contains(kind) }

    func difference(on kind: Backend.Kind) -> Difference? { differences.first { $0.kinds.contains(kind) } }
}

import TestSupport

/// What a snippet prints: it stands in for the standard output.
final class Printed: Sendable {
    private let log = Log<String>()

    /// The lines, in order.
    var lines: [String] { log.entries }

    /// Takes what `print` would have printed.
    func callAsFunction(_ items: Any...) {
        log.add(items.map { "\($0)" }.joined(separator: " "))
    }
}

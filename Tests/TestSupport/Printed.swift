/// The output of a snippet, in place of standard output.
public final class Printed: Sendable {
    private let log = Log<String>()

    /// Makes one that has printed nothing.
    public init() {}

    /// The lines, in order.
    public var lines: [String] { log.entries }

    /// Takes what `print` would have printed.
    ///
    /// - Parameter items: The parts of the line.
    public func callAsFunction(_ items: Any...) {
        log.add(items.map { "\($0)" }.joined(separator: " "))
    }
}

/// A record of the output of a snippet, which replaces standard output.
public final class Printed: Sendable {
    private let log = Log<String>()

    /// Makes an empty record.
    public init() {}

    /// The printed lines, in order.
    public var lines: [String] { log.entries }

    /// Records a line, as `print` would print it.
    ///
    /// - Parameter items: The parts of the line.
    public func callAsFunction(_ items: Any...) {
        log.add(items.map { "\($0)" }.joined(separator: " "))
    }
}

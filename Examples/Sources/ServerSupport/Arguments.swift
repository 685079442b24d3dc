import Glibc

/// The options of a program, each given as `--name value`.
///
/// ```swift
/// var arguments = Arguments(usage: "usage: echo-server [--port 7000]")
/// let port = arguments.integer("port", default: 7000, in: 0...65_535)
/// arguments.finish()
/// ```
///
/// A mistake prints the usage, and exits with 64, the code `EX_USAGE` of `sysexits.h`.
public struct Arguments {
    private var values: [String: String] = [:]
    private let usage: String

    /// Reads the arguments of the process.
    ///
    /// - Parameter usage: The text that a mistake prints.
    public init(usage: String) {
        self.usage = usage
        var rest = CommandLine.arguments.dropFirst()
        while let name = rest.popFirst() {
            if name == "--help" {
                announce(usage)
                exit(0)
            }
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                exitWithUsage("\(name): an option has the form --name value")
            }
            values[String(name.dropFirst(2))] = value
        }
    }

    /// Takes a number.
    ///
    /// - Parameters:
    ///   - name: The name of the option, without dashes.
    ///   - standard: The number if the option is not given.
    ///   - range: The allowed numbers.
    /// - Returns: The number.
    public mutating func integer(_ name: String, default standard: Int, in range: ClosedRange<Int>) -> Int {
        guard let text = values.removeValue(forKey: name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            exitWithUsage("--\(name) \(text): use a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Takes a TCP port.
    ///
    /// - Parameter standard: The port if the option is not given.
    /// - Returns: The port, or 0 for any free port.
    public mutating func port(default standard: Int) -> UInt16 {
        UInt16(integer("port", default: standard, in: 0...65_535))
    }

    /// Takes a text.
    ///
    /// - Parameters:
    ///   - name: The name of the option, without dashes.
    ///   - standard: The text if the option is not given.
    /// - Returns: The text.
    public mutating func text(_ name: String, default standard: String) -> String {
        values.removeValue(forKey: name) ?? standard
    }

    /// Exits if an option was not taken, because the program does not know this option.
    public func finish() {
        if let name = values.keys.min() { exitWithUsage("--\(name): unknown option") }
    }

    /// Prints a complaint and the usage, and exits.
    ///
    /// - Parameter complaint: The mistake.
    public func exitWithUsage(_ complaint: String) -> Never {
        log("\(complaint)\n\(usage)")
        exit(EX_USAGE)
    }
}

/// Ends the program because the caller broke a rule.
///
/// `fatalError`, because release builds drop the messages of `precondition`.
///
/// - Parameter message: `Type.method: what was wrong; what to do instead`.
package func misuse(_ message: @autoclosure () -> String) -> Never {
    fatalError(message())
}

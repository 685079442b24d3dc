/// Ends the program because the caller broke a rule.
///
/// The function uses `fatalError` because release builds omit the messages of `precondition`.
///
/// - Parameter message: The message, in the form `Type.method: the mistake; the remedy`.
package func misuse(_ message: @autoclosure () -> String) -> Never {
    fatalError(message())
}

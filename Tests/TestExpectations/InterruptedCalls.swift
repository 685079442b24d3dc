public import TestSupport
internal import Testing

/// Has calls of a kind interrupted while something is done, which makes as many, and one more.
///
/// - Parameters:
///   - call: The kind.
///   - times: The number of calls that are interrupted.
///   - body: Makes the calls.
/// - Returns: The result of the body.
/// - Throws: The error of the body.
public func interrupted<Result: ~Copyable>(
    _ call: Faults.Call, times: Int = 3, _ body: () throws -> Result
) rethrows -> Result {
    Faults.interrupt(call, times: times)
    defer {
        #expect(Faults.interruptionsLeft(call) == 0)
        Faults.interrupt(call, times: 0)
    }
    return try body()
}

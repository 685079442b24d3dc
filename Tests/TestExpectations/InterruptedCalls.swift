public import TestSupport
internal import Testing

/// Interrupts system calls of a kind during a closure, and expects that the closure repeats them.
///
/// - Parameters:
///   - call: The kind of system call.
///   - times: The number of calls to interrupt. The closure makes one more.
///   - body: The closure that makes the calls.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure.
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

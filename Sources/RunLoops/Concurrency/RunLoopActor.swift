/// An actor that lives on a loop, and so on the loop's thread.
///
/// ```swift
/// actor Gauge: RunLoopActor {
///     nonisolated let runLoop: RunLoop
///     private var level = 0
///
///     init(on runLoop: RunLoop) { self.runLoop = runLoop }
///
///     func rise() { level += 1 }
/// }
/// ```
///
/// The actor holds its loop, and the loop is its executor. Other code awaits the actor's methods, or performs blocks with
/// ``perform(fileID:line:_:)``. Handlers of the loop can use `assumeIsolated`. For more, see <doc:SwiftConcurrency>.
///
/// > Thread safety: any thread.
public protocol RunLoopActor: Actor {
    /// The loop that runs the actor's code; always the same loop.
    ///
    /// Declare the property as a `let`, because the executor of an actor must exist as long as the actor.
    nonisolated var runLoop: RunLoop { get }
}

extension RunLoopActor {
    /// The actor's loop, as the executor that Swift asks for.
    ///
    /// > Thread safety: any thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        // Safe: the actor holds the loop in a property that does not change.
        unsafe runLoop.asUnownedSerialExecutor()
    }

    /// Performs a block on the loop's thread with access to the actor, in the common modes, and returns at once.
    ///
    /// The block is in one order with all blocks that this thread performs on the loop: see
    /// ``RunLoop/perform(fileID:line:_:)``. The loop holds the actor until the block has run or was destroyed.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - body: The block.
    /// - Returns: False if the loop's thread has ended; in that case the block is destroyed at once. If the thread ends while the
    ///   block waits, the block is destroyed without having run.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public nonisolated func perform(
        fileID: StaticString = #fileID, line: Int = #line,
        _ body: @escaping @Sendable (isolated Self) -> Void
    ) -> Bool {
        runLoop.perform(fileID: fileID, line: line) { self.assumeIsolated { body($0) } }
    }
}

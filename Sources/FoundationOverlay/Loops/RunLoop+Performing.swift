public import RunLoops

public import class RunLoops.RunLoop

extension RunLoop {
    /// Performs a block on the loop's thread, the next time that the loop runs in one of the given modes.
    ///
    /// - Parameters:
    ///   - modes: The modes; at least one.
    ///   - block: Called once on the loop's thread, unless the loop has ended.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) {
        let _: Bool = perform(inModes: modes, block)
    }

    /// Performs a block on the loop's thread in the common modes.
    ///
    /// - Parameter block: Called once on the loop's thread, unless the loop has ended.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func perform(block: @escaping @Sendable () -> Void) { let _: Bool = perform(block) }
}

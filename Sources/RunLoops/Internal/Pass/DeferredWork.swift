/// Work that waits for a step of a pass: its end, or the moment at which the loop has nothing to do.
///
/// The loop asks for it when it comes to that step. Work that is added while the step goes on waits for the next time.
///
/// > Thread safety: the loop's own thread only.
package protocol DeferredWork: AnyObject {
    /// Returns true if work waits in this mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: True if it is one of the common modes.
    /// - Returns: True if there is some.
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool

    /// Does the work that waits in this mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: True if it is one of the common modes.
    func performWork(for mode: RunLoop.Mode, isCommon: Bool)

    /// Releases the work that waits: the loop has ended, and asks no more.
    func discardWork()
}

/// Work that waits for one step of a pass: the end of the pass, or the moment at which the loop is idle.
///
/// The loop does the work when it reaches that step. Work that is added during the step waits for the next such step.
///
/// > Thread safety: the loop's own thread only.
package protocol DeferredWork: AnyObject {
    /// Returns true if work waits in this mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: True if the mode is common.
    /// - Returns: True if work waits.
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool

    /// Does the work that waits in this mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: True if the mode is common.
    func performWork(for mode: RunLoop.Mode, isCommon: Bool)

    /// Releases the waiting work, because the loop has ended.
    func discardWork()
}

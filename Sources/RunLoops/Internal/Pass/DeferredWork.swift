/// Work that a loop does at the end of each pass, or before each sleep.
///
/// A pass is one cycle of the loop through all its inputs. If new work is added while the loop is doing deferred work, the loop
/// does the new work at the end of the next pass, or before the next sleep.
///
/// > Thread safety: the loop's own thread only.
package protocol DeferredWork: AnyObject {
    /// Returns true if there is work that may be done in a mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: True if the mode is common.
    /// - Returns: True if there is such work.
    func holdsWork(for mode: Mode, isCommon: Bool) -> Bool

    /// Does the work that may be done in a mode.
    ///
    /// - Parameters:
    ///   - mode: The mode that runs.
    ///   - isCommon: True if the mode is common.
    func performWork(for mode: Mode, isCommon: Bool)

    /// Releases the waiting work, because the loop has ended.
    func discardWork()

    /// What waits, in words, with the place where each was made.
    var waitingParts: [String] { get }
}

extension DeferredWork {
    package var waitingParts: [String] { [] }
}

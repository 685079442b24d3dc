public import RunLoops

public import class RunLoops.RunLoop
public import class RunLoops.Timer

extension RunLoop {
    /// Adds a timer to a mode.
    ///
    /// The loop holds the timer until the timer is removed from its last mode or becomes invalid. If the timer is in the mode
    /// already, or is invalid, the call does nothing.
    ///
    /// On another thread than the loop's, the loop wakes and takes the timer over. What the same thread does to the timer or the
    /// loop afterwards takes effect after that.
    ///
    /// - Parameters:
    ///   - timer: The timer. It must be in no other loop.
    ///   - mode: The mode, or `.common` for all common modes, present and future.
    ///
    /// > Thread safety: any thread.
    public func add(_ timer: Timer, forMode mode: Mode) { addAnywhere(timer, forMode: mode) }
}

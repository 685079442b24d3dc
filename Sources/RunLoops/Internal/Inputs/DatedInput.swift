/// An input that has a date, which a timer of its own keeps for it.
///
/// The timer is in the same modes, calls no user code, and is not counted as a timer that fires.
///
/// > Thread safety: the loop's own thread only.
protocol DatedInput: AnyObject {
    /// The date has come, in a mode of the timer.
    func dateHasCome()

    /// The timer is invalid: its loop has ended, or the input has invalidated it.
    func loopHasEnded()
}

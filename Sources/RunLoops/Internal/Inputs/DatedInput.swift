/// An input that is called at a date by its own timer.
///
/// The timer is in the same modes as the input, calls no user code, and is not counted among the fired timers.
///
/// > Thread safety: the loop's own thread only.
protocol DatedInput: AnyObject {
    /// Called when the date has passed and the loop runs in one of the timer's modes.
    func dateHasCome()

    /// Called when the timer has become invalid, because its loop has ended or the input has invalidated the timer.
    func loopHasEnded()
}

/// An input that uses a timer of its own to learn that a date has come.
///
/// That timer is in the same modes as the input, calls no user code, and is not counted among the timers that fire.
///
/// > Thread safety: the loop's own thread only.
protocol DatedInput: AnyObject {
    /// Called when the date has come and the loop runs in one of the timer's modes.
    func dateHasCome()

    /// Called when the timer has become invalid, because its loop has ended or the input has invalidated the timer.
    func loopHasEnded()
}

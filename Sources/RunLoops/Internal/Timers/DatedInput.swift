/// An input that has its own timer, and is notified when the date of that timer has passed.
///
/// The timer is in the same modes as the input. It calls no user code itself, and the loop does not count it among its fired timers.
///
/// > Thread safety: the loop's own thread only.
protocol DatedInput: AnyObject {
    /// Called when the timer's date has passed and the loop runs in one of the timer's modes.
    func dateHasCome()
}

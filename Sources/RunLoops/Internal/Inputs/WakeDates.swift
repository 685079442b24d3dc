/// The dates at which a loop wakes without an event.
///
/// > Thread safety: the loop's own thread only.
protocol WakeDates: AnyObject {
    /// The next moment at which the loop wakes; `never` if there is none.
    var nextWake: Moment { get }
}

/// The retries of one loop for descriptors that the kernel has refused to watch.
///
/// While there are such descriptors, each pass looks at all descriptors, and retries the refused ones once the pause is over.
struct WatchRetry {
    private var pause = ExponentialBackoff.rewatching

    /// The moment at which the next retry is due; `never` if no descriptor was refused.
    ///
    /// A sleep of the loop ends at that moment at the latest.
    private(set) var moment = Moment.never

    /// True if the current look at all descriptors retries the refused ones.
    private(set) var isDue = false

    /// True if that look has found descriptors that stay unwatched.
    private var foundSome = false

    /// Begins a look at all descriptors of the loop.
    mutating func beginLook() {
        foundSome = false
        isDue = moment == .never || Moment.now() >= moment
        if isDue { moment = .never }
    }

    /// Records that a descriptor stays unwatched until the pause is over.
    mutating func leaveOut() { foundSome = true }

    /// Records that the kernel has refused to watch a descriptor.
    mutating func wasRefused() {
        foundSome = true
        if moment == .never { moment = Moment.now().advanced(by: pause.begin().nanosecondsRoundedUp) }
    }

    /// Ends the look at all descriptors.
    ///
    /// - Returns: True if some of them stay unwatched.
    mutating func endLook() -> Bool {
        isDue = false
        if !foundSome {
            moment = .never
            pause.reset()
        }
        return foundSome
    }
}

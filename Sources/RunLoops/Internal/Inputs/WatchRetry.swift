/// The retries of a loop to watch descriptors that the kernel has refused to watch.
///
/// While there are some, each pass looks at all descriptors, and tries those that were refused when the pause is over.
struct WatchRetry {
    private var pause = ExponentialBackoff.rewatching

    /// The moment at which the next try is due; `never` if none was refused.
    ///
    /// A sleep ends then.
    private(set) var moment = Moment.never

    /// True if the look that is under way tries those that were refused.
    private(set) var isDue = false

    /// True if the look has found some that are not watched.
    private var foundSome = false

    /// The loop looks at all its descriptors.
    mutating func beginLook() {
        foundSome = false
        isDue = moment == .never || Moment.now() >= moment
        if isDue { moment = .never }
    }

    /// A descriptor stays unwatched until the pause is over.
    mutating func leaveOut() { foundSome = true }

    /// The kernel has refused to watch a descriptor.
    mutating func wasRefused() {
        foundSome = true
        if moment == .never { moment = Moment.now().advanced(by: pause.begin().nanosecondsRoundedUp) }
    }

    /// The look is over.
    ///
    /// - Returns: True if there are some that are not watched.
    mutating func endLook() -> Bool {
        isDue = false
        if !foundSome {
            moment = .never
            pause.reset()
        }
        return foundSome
    }
}

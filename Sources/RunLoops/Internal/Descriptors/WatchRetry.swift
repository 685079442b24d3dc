/// The schedule on which one loop retries the descriptors that the kernel has refused to watch.
///
/// While there are such descriptors, each pass goes through all descriptors of the loop and checks which of them the kernel must
/// watch. This check retries the refused descriptors if the pause after the last refusal is over.
struct WatchRetry {
    private var pause = ExponentialBackoff.rewatching

    /// The moment at which the next retry is due; `never` if no descriptor was refused.
    ///
    /// The loop does not sleep beyond that moment.
    private(set) var moment = Moment.never

    /// True if the current check of all descriptors retries the refused descriptors.
    private(set) var isDue = false

    /// True if the current check of all descriptors has found descriptors that stay unwatched.
    private var foundSome = false

    /// Begins a check of all descriptors of the loop, which determines the descriptors that the kernel must watch.
    mutating func beginLook() {
        foundSome = false
        isDue = moment == .never || Moment.now() >= moment
        if isDue { moment = .never }
    }

    /// Records that a refused descriptor stays unwatched, because the pause before the next retry is not over.
    mutating func leaveOut() { foundSome = true }

    /// Records that the kernel has refused to watch a descriptor.
    mutating func wasRefused() {
        foundSome = true
        if moment == .never { moment = Moment.now().advanced(by: pause.begin().nanosecondsRoundedUp) }
    }

    /// Ends the check of all descriptors.
    ///
    /// - Returns: True if some descriptors stay unwatched.
    mutating func endLook() -> Bool {
        isDue = false
        if !foundSome {
            moment = .never
            pause.reset()
        }
        return foundSome
    }
}

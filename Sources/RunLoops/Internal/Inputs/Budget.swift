/// The number of messages of one kind that one pass may serve before it looks at the other inputs again.
///
/// 128 messages or 250 µs, whichever comes first; a pass has one budget for blocks and one for ports, which
/// makes 256 messages or 500 µs at most. The clock is read before the second message and then ever less
/// often, so a lone message costs no reading, and slow handlers are noticed soon.
package struct Budget {
    // Computed, for the sake of forked children, as `Moment.never` is.
    static var messages: Int { 128 }
    static var nanoseconds: Int64 { 250_000 }
    private static var longestInterval: Int { 32 }

    /// The number of messages that may be served before the next look at the clock, or the end.
    ///
    /// Counted down, so that most messages cost one comparison.
    private var untilLook = 1
    /// The number of messages that will have been served by then.
    private var servedAtLook = 1
    private var interval = 1
    private var deadline = Moment.never

    /// No time is left.
    private var isOverdue = false

    /// True if the next message would be refused, as far as is known without asking the clock.
    package var isSpent: Bool { isOverdue || untilLook == 0 && servedAtLook == Budget.messages }

    /// Takes one message out of the budget, and returns true if it may be served.
    @inline(__always)
    package mutating func spend(now: () -> Moment = Moment.now) -> Bool {
        if untilLook == 0 && !look(now) { return false }
        untilLook &-= 1
        return true
    }

    /// True if there is time for more.
    @inline(never)
    private mutating func look(_ now: () -> Moment) -> Bool {
        if isSpent { return false }
        let now = now()
        if now >= deadline {
            isOverdue = true
            return false
        }
        if deadline == .never { deadline = now.advanced(by: Budget.nanoseconds) }
        untilLook = min(interval, Budget.messages - servedAtLook)
        servedAtLook += untilLook
        interval = min(interval * 2, Budget.longestInterval)
        return true
    }
}
